"""Results as people read them: tables, sentences, CSV and Markdown; knows no formula."""
