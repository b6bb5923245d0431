package gpulint.GPU102_test

import data.gpulint.GPU102

link := {
	"id": "driver_files/0",
	"key": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"evidence": [],
	"class": "link",
	"package": null,
	"names": ["libnvidia-ml.so"],
	"paths": ["/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"],
	"links": ["libnvidia-ml.so.545.29.06"],
	"driver": {"text": "545.29.06", "parts": [545, 29, 6]},
	"on_linker_path": true,
	"bytes": 0,
}

versioned := object.union(link, {
	"paths": ["/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08"],
	"names": ["libcuda.so"],
	"links": ["/host/libcuda.so"],
})

findings(c, targets) := fs if {
	fs := GPU102.deny with input as {"driver_files": [c], "targets": targets}
}

test_deny_link_is_warning if {
	some f in findings(link, [])
	f.level == "warning"
	f.targets == []
	startswith(f.msg, "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 is a symbolic link to libnvidia-ml.so.545.29.06 with the name of a driver library.")
	f.predicted == "nvidia-container-cli: mount error: file creation failed: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists"
}

test_deny_on_wsl_is_error if {
	some f in findings(link, [{"name": "laptop", "driver": "566.07", "runtime": "wsl"}, {"name": "a100", "driver": "545.29.06", "runtime": "cdi"}])
	f.level == "error"
	f.targets == ["laptop"]
	contains(f.msg, "On laptop the host's file of that name cannot be mounted")
}

test_deny_name_of_target_driver_is_error if {
	some f in findings(versioned, [{"name": "a100", "driver": "535.161.08"}])
	f.level == "error"
	f.targets == ["a100"]
	contains(f.predicted, "libcuda.so.535.161.08: file exists")
}

test_deny_name_of_other_driver_is_warning if {
	some f in findings(versioned, [{"name": "a100", "driver": "550.54.14"}])
	f.level == "warning"
}

test_deny_package if {
	c := object.union(link, {
		"package": {"name": "libnvidia-compute-545", "version": "545.29.06-0ubuntu1", "manager": "dpkg", "pulled_by": ["nvidia-opencl-dev"]},
		"paths": ["/usr/lib/libcuda.so.1", "/usr/lib/libnvidia-ml.so.1"],
		"links": ["libcuda.so.545.29.06", "libnvidia-ml.so.545.29.06"],
	})
	some f in findings(c, [])
	contains(f.msg, "brings 2 symbolic links with names of driver libraries")
	contains(f.fix, "ocl-icd-opencl-dev")
}

test_allow_real_library if {
	count(findings(object.union(link, {"class": "library"}), [])) == 0
}

test_allow_shadowed_link if {
	count(findings(object.union(link, {"class": "shadowed"}), [{"name": "wsl", "runtime": "wsl"}])) == 0
}

test_allow_foreign_documents if {
	every doc in [{}, [], {"driver_files": {"a": "b"}}, {"driver_files": [{"class": "link", "id": "x", "paths": []}]}] {
		count(GPU102.deny) == 0 with input as doc
	}
}
