"""kmetrics."""
