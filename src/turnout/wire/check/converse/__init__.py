"""What Bedrock refuses: `rules` for Converse, `shapes` for its fields, `invoke` for Claude's own body."""
