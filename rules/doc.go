// Package rules holds the built-in policies and the engine that runs them.
//
// A rule is one Rego v1 file with METADATA, in a package of its own below
// gpulint, that gives a set of findings:
//
//	package gpulint.GPU101
//
//	deny contains f if {
//		some c in input.driver_files
//		c.class == "library"
//		f := {"msg": "…", "candidate": c.id}
//	}
//
// The entrypoint and these fields of f are an interface that users' own
// policies rely on:
//
//	msg        string, required: one or two sentences for people
//	candidate  string: the id of the input's candidate that the finding is
//	           about; evidence and key come from it
//	level      error, warning or note; default: the rule's level
//	targets    array or set of strings: names of the targets concerned
//	code       number: the CUDA error that follows
//	predicted  string: what a user would see at run time; default: the rule's
//	           `predicts`, an empty string for nothing
//	fix        string: what to do; default: the rule's `fix`
//	key        string: the thing found, stable across rebuilds
//	evidence   array of objects as in the report, instead of the candidate's
//	path       string: the one path of the candidate (or of the image) meant
//
// The rules see JSON only, use no custom built-ins, and run as they are under
// `opa test rules/` and conftest.
package rules
