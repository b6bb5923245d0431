package gpulint.GPU202_test

import data.gpulint.GPU202

verdict := {
	"id": "verdicts/0",
	"key": "cudart 12",
	"evidence": [],
	"cuda": {"text": "12.4", "parts": [12, 4]},
	"level": "minor",
	"targets": ["a100"],
	"drivers": ["535.161.08"],
	"native": "550.54.14",
	"minor": "525.60.13",
	"confidence": "high",
	"reasons": [],
}

findings(c) := fs if {
	fs := GPU202.deny with input as {"verdicts": [c], "targets": []}
}

test_deny_minor if {
	some f in findings(verdict)
	f.targets == ["a100"]
	startswith(f.msg, "CUDA 12.4 runs on driver 535.161.08 (a100) by minor-version compatibility only; driver 550.54.14 or later runs it natively.")
	contains(f.fix, "550.54.14")
}

test_deny_without_native if {
	some f in findings(object.remove(verdict, ["native"]))
	contains(f.msg, "by minor-version compatibility only. PTX")
}

test_allow_native if {
	count(findings(object.union(verdict, {"level": "native"}))) == 0
}

test_allow_incompatible if {
	count(findings(object.union(verdict, {"level": "incompatible"}))) == 0
}

test_allow_foreign_documents if {
	every doc in [{}, {"verdicts": [{"level": "minor"}]}] {
		count(GPU202.deny) == 0 with input as doc
	}
}
