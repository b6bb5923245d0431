// Package report renders a [facts.Report] for people and for programs.
//
// Every format is one value in the literal list of format.go and one file (with
// helpers beside it): a new format is a new file and a new line in that list.
// Formats only render. They do not judge, and they know nothing of how a
// finding came about.
//
// Strings that stem from images are hostile: names, instructions and paths may
// hold escape sequences, line breaks, bidirectional overrides and bytes that
// are not UTF-8. Texts for people show such characters as escapes; JSON keeps
// them, escaped, so that printing a report is safe too.
package report
