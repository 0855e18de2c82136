"""One answer as one HTML file: what it says, its curve with sliders, and what it rests on."""
