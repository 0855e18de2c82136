"""The public names: all there, all documented."""

import doctest
import inspect

import pytest

import gammaplan

DESIGN = {
    "expected_tokens",
    "speedup",
    "ceiling",
    "stationary_gamma",
    "optimal_gamma",
    "flat_band",
    "break_even_alpha",
    "break_even_c",
    "break_even_gamma",
    "alpha_from_mean_length",
    "alpha_from_pooled_rate",
    "pooled_rate",
    "Geometric",
    "PerPosition",
    "LinearCost",
    "TableCost",
    "Counts",
    "curve",
    "decide",
}
PUBLIC = sorted(gammaplan.__all__)
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(gammaplan, name))]


def doc(name):
    return inspect.getdoc(getattr(gammaplan, name))


def test_the_names_of_the_design_are_public():
    assert set(PUBLIC) >= DESIGN


def test_dir_lists_the_public_names():
    assert set(dir(gammaplan)) == set(PUBLIC)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = gammaplan.nope


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring_of_one_short_first_line(name):
    first, *rest = doc(name).splitlines()
    assert 0 < len(first) <= 80
    assert rest[:1] in ([], [""])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_documents_its_arguments_and_its_result(name):
    assert "Parameters\n----------\n" in doc(name)
    assert "Returns\n-------\n" in doc(name)
    head = doc(name).split("Returns\n-------")[0]
    assert all(arg in head for arg in inspect.signature(getattr(gammaplan, name)).parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_doctest(name):
    assert doctest.DocTestParser().get_examples(doc(name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_that_can_fail_says_how(name):
    source = inspect.getsource(getattr(gammaplan, name))
    assert ("raise " not in source) or ("Raises\n------\n" in doc(name))
