package gpulint.GPU101_test

import data.gpulint.GPU101

package_group := {
	"id": "driver_files/0",
	"key": "libnvidia-compute-535",
	"evidence": [],
	"class": "library",
	"package": {"name": "libnvidia-compute-535", "version": "535.161.08-0ubuntu1", "manager": "dpkg", "pulled_by": ["nvidia-opencl-dev"]},
	"names": ["libcuda.so", "libnvidia-ml.so"],
	"paths": ["/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.161.08"],
	"driver": {"text": "535.161.08", "parts": [535, 161, 8]},
	"on_linker_path": true,
	"beside_host": true,
	"bytes": 31000000,
}

single := object.union(package_group, {
	"package": null,
	"names": ["libcuda.so"],
	"paths": ["/opt/app/libcuda.so.1"],
})

findings(c, targets) := fs if {
	fs := GPU101.deny with input as {"driver_files": [c], "targets": targets}
}

test_deny_package if {
	some f in findings(package_group, [])
	f.candidate == "driver_files/0"
	f.level == "error"
	f.code == 803
	f.targets == []
	contains(f.msg, "Package libnvidia-compute-535 535.161.08-0ubuntu1 (pulled in by nvidia-opencl-dev) brings 2 libraries of GPU driver 535.161.08")
	contains(f.msg, "libcuda.so and libnvidia-ml.so")
	contains(f.fix, "ocl-icd-opencl-dev")
}

test_deny_copied_file if {
	some f in findings(single, [])
	f.level == "error"
	startswith(f.msg, "/opt/app/libcuda.so.1 is a library of GPU driver 535.161.08.")
	contains(f.fix, "do not copy libcuda.so* into the image")
}

# Both names have a stub; the advice must still be one.
test_deny_several_copied_files if {
	some f in findings(object.union(package_group, {"package": null}), [])
	contains(f.msg, "are libraries of GPU driver 535.161.08.")
	contains(f.fix, "do not copy libcuda.so*")
}

test_deny_off_linker_path_is_warning if {
	some f in findings(object.union(single, {"on_linker_path": false}), [])
	f.level == "warning"
	contains(f.msg, "No linker path leads there")
}

test_deny_egl_platform_library_is_warning if {
	some f in findings(object.union(single, {"names": ["libnvidia-egl-gbm.so"]}), [])
	f.level == "warning"
}

test_deny_unknown_driver if {
	some f in findings(object.union(single, {"driver": null}), [{"name": "a", "driver": "550.54.14"}])
	f.level == "error"
	contains(f.msg, "a GPU driver of unknown version")
	f.targets == []
}

test_deny_newer_than_target_wins if {
	some f in findings(package_group, [{"name": "old", "driver": "525.60.13"}])
	contains(f.msg, "On old (driver 525.60.13) the image's newer copy wins over the host's and CUDA fails with error 803")
	f.targets == ["old"]
}

# In a directory of the image's own the order of the directories decides.
test_deny_newer_elsewhere_may_win if {
	some f in findings(object.union(package_group, {"beside_host": false}), [{"name": "525.60.13", "driver": "525.60.13"}])
	contains(f.msg, "On driver 525.60.13 the image's newer copy may win over the host's, and then CUDA fails with error 803")
	f.level == "error"
}

test_deny_older_than_target_loses if {
	some f in findings(package_group, [{"name": "new", "driver": "580.65.06"}])
	contains(f.msg, "the host's newer copy usually wins")
	f.targets == ["new"]
}

test_deny_equal_works_by_luck if {
	some f in findings(package_group, [{"name": "same", "driver": "535.161.08"}])
	f.level == "error"
	contains(f.msg, "the versions are equal, which works only until")
	f.targets == []
}

# 535.161.08 is newer than 535.54.03: numbers, not text, are compared.
test_deny_compares_numbers if {
	some f in findings(package_group, [{"name": "t", "driver": "535.54.03"}])
	contains(f.msg, "the image's newer copy wins")
}

test_deny_does_not_compare_windows_drivers if {
	some f in findings(package_group, [{"name": "wsl", "driver": "566.07", "runtime": "wsl"}])
	not contains(f.msg, "566.07")
	f.targets == []
}

test_allow_other_classes if {
	every class in ["link", "empty", "tool", "shadowed"] {
		count(findings(object.union(package_group, {"class": class}), [])) == 0
	}
}

test_allow_nothing if {
	count(GPU101.deny) == 0 with input as {"driver_files": [], "targets": [{"name": "a", "driver": "550.54.14"}]}
}

test_allow_foreign_documents if {
	every doc in [{}, [], "text", null, {"driver_files": "x"}, {"driver_files": [1, {"class": "library"}, {"class": "library", "id": 1, "paths": [1]}]}] {
		count(GPU101.deny) == 0 with input as doc
	}
}
