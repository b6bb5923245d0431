package gpulint.GPU901_test

import data.gpulint.GPU901

limit := {
	"id": "incomplete/0",
	"key": "entries",
	"evidence": [],
	"limit": "entries",
	"hides": "files after the first 3000000 of layer 2",
	"count": 1,
}

findings(c) := fs if {
	fs := GPU901.deny with input as {"incomplete": [c]}
}

test_deny_limit if {
	some f in findings(limit)
	f.candidate == "incomplete/0"
	f.msg == "The scan hit the limit `entries`. May be missed: files after the first 3000000 of layer 2."
	contains(f.fix, "`--limit entries=N`")
}

test_deny_limit_hit_often if {
	some f in findings(object.union(limit, {"count": 12, "hides": ""}))
	f.msg == "The scan hit the limit `entries` 12 times. Something may be missed."
}

# A flag is named only where one raises the limit.
test_deny_fix if {
	some f in findings(object.union(limit, {"limit": "driver-files"}))
	contains(f.fix, "`--limit facts=N`")
	every other in ["path", "elf", "candidates", "foreign-layer", "targets"] {
		some g in findings(object.union(limit, {"limit": other}))
		not contains(g.fix, "--limit")
	}
}

test_allow_complete_scan if {
	count(GPU901.deny) == 0 with input as {"incomplete": []}
}

test_allow_other_candidates if {
	count(GPU901.deny) == 0 with input as {"driver_files": [{"id": "x", "class": "library", "paths": ["/a"]}]}
}

test_allow_foreign_documents if {
	every doc in [{}, {"incomplete": ["entries", {"id": "x"}, {"id": 1, "limit": "x"}]}] {
		count(GPU901.deny) == 0 with input as doc
	}
}
