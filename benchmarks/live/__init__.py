"""Plan first, measure second: gammaplan's predictions against llama.cpp on this machine."""
