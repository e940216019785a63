// Package markup reads what the author of a text in Markdown says in his own words
// there. It knows nothing of forges, and changes no text.
package markup
