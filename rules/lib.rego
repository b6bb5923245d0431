# Helpers of the built-in rules. They are no interface and may change with any
# version. Foreign documents (conftest runs deny on whatever it is given) must
# yield no finding rather than an error, so the types of all that a rule prints
# are checked here.
package gpulint.lib

# files are the well-formed groups of driver files of one class.
files(class) := [c |
	some c in input.driver_files
	c.class == class
	is_string(c.id)
	count(strings(c.paths)) > 0
]

# targets are the well-formed targets.
targets contains t if {
	some t in input.targets
	is_string(t.name)
}

default strings(_) := []

# strings keeps the strings of an array.
strings(x) := [s | some s in x; is_string(s)] if is_array(x)

# names are the unversioned names of a group's files, without repetition.
names(c) := sort({s | some s in strings(object.get(c, "names", []))})

# list writes at most n of the texts: "a", "a and b", "a, b and 12 more".
list(xs, _) := concat("", xs) if count(xs) < 2

list(xs, n) := text if {
	count(xs) > 1
	count(xs) <= n
	last := count(xs) - 1
	text := sprintf("%s and %s", [concat(", ", array.slice(xs, 0, last)), xs[last]])
}

list(xs, n) := text if {
	count(xs) > 1
	count(xs) > n
	text := sprintf("%s and %d more", [concat(", ", array.slice(xs, 0, n)), count(xs) - n])
}

has_package(c) if valid_package(c.package)

valid_package(p) if {
	is_string(p.name)
	is_string(p.version)
}

pulled_by(p) := sort(strings(object.get(p, "pulled_by", [])))

# package_text names a package and what pulled it in.
package_text(p) := sprintf("%s %s", [p.name, p.version]) if count(pulled_by(p)) == 0

package_text(p) := text if {
	count(pulled_by(p)) > 0
	text := sprintf("%s %s (pulled in by %s)", [p.name, p.version, list(pulled_by(p), 3)])
}

default driver_text(_) := "a GPU driver of unknown version"

# driver_text names the driver that a group of files belongs to.
driver_text(c) := sprintf("GPU driver %s", [c.driver.text]) if is_string(c.driver.text)

# subject_text begins a sentence about a group of files: who brought which.
subject_text(c, one, _) := text if {
	has_package(c)
	count(strings(c.paths)) == 1
	text := sprintf("package %s brings %s (%s)", [package_text(c.package), one, strings(c.paths)[0]])
}

subject_text(c, _, many) := text if {
	has_package(c)
	n := count(strings(c.paths))
	n > 1
	text := sprintf("package %s brings %d %s (%s)", [package_text(c.package), n, many, list(names(c), 3)])
}

subject_text(c, one, _) := text if {
	not has_package(c)
	count(strings(c.paths)) == 1
	text := sprintf("%s is %s", [strings(c.paths)[0], one])
}

subject_text(c, _, many) := text if {
	not has_package(c)
	count(strings(c.paths)) > 1
	text := sprintf("%s are %s", [list(strings(c.paths), 3), many])
}

# parts are the numbers of a version, for comparison; undefined for other text.
# Parts such as 08 are no JSON numbers, hence the leading zeros go first.
parts(text) := [number(p) | some p in split(text, ".")] if {
	is_string(text)
	regex.match(`^[0-9]{1,9}(\.[0-9]{1,9}){1,4}$`, text)
}

number(digits) := 0 if trim_left(digits, "0") == ""

number(digits) := to_number(trim_left(digits, "0")) if trim_left(digits, "0") != ""

# sentence makes a text a sentence.
sentence(text) := sprintf("%s%s.", [upper(substring(text, 0, 1)), substring(text, 1, -1)])

# with_driver writes targets as "name (driver version)".
with_driver(ts) := [named_target(t) | some t in sort(ts)]

# A target from flags is named after its driver, which need not be said twice.
named_target(t) := sprintf("driver %s", [t.driver]) if {
	t.name == t.driver
} else := sprintf("%s (driver %s)", [t.name, t.driver])

# upgrade names what is to be upgraded for a verdict to change.
upgrade(c) := "upgrade the host's driver" if {
	same(strings(c.drivers), strings(c.targets))
} else := sprintf("upgrade the driver of %s", [list(strings(c.targets), 3)])

# size writes bytes for people.
size(n) := sprintf("%d bytes", [n]) if n < 1000

size(n) := sprintf("%d kB", [round(n / 1000)]) if {
	n >= 1000
	n < 999500
}

size(n) := sprintf("%d.%d MB", [floor(tenths / 10), tenths % 10]) if {
	n >= 999500
	tenths := round(n / 100000)
}

# installers are the commands that install packages, by package manager.
installers := {
	"dpkg": ["apt-get", "apt", "aptitude"],
	"rpm": ["dnf", "microdnf", "yum", "zypper"],
	"apk": ["apk"],
	"conda": ["conda", "mamba", "micromamba"],
	"pip": ["pip", "pip3", "uv", "poetry"],
}

subcommands := {"apk": "apk add"}

# installer names the command in the instruction that installed a package. Where
# the instruction shows none, as that of a COPY, a script or Bazel does, nothing
# is claimed.
installer(p, created) := object.get(subcommands, names[0], sprintf("%s install", [names[0]])) if {
	words := {w | some w in regex.split(`[^a-z0-9-]+`, created)}
	names := [n | some n in object.get(installers, object.get(p, "manager", ""), []); n in words]
	count(names) > 0
} else := "packages that the image installs"

# created_by is the instruction behind a candidate, empty where it is not known.
default created_by(_) := ""

created_by(c) := c.evidence[0].layer.created_by if is_string(c.evidence[0].layer.created_by)

# cuda_metas are NVIDIA's metapackages that install a driver with CUDA: the
# package itself, or what pulled it in.
cuda_metas(p) := sort({m |
	some m in array.concat([p.name], pulled_by(p))
	regex.match(`^cuda(-runtime)?(-[0-9]+-[0-9]+)?$`, m)
})

# release is the end of a metapackage's name: 12-4 of cuda-12-4.
release(meta) := regex.find_n(`[0-9]+-[0-9]+$`, meta, 1)[0]

default release(_) := "<major>-<minor>"

# package_fix says how to get rid of the driver package behind a candidate.
package_fix(c) := of_base(c, fix_of(c.package, created_by(c)))

# of_base says who can apply a fix: what the base image brings goes with it.
of_base(c, fix) := sprintf("if it comes with the base image, as the history suggests, take one without it; else %s", [fix]) if {
	c.evidence[0].layer.origin == "base"
	input.subject.base.how == "heuristic"
} else := sprintf("the base image brings it: take one without it, or in its Dockerfile %s", [fix]) if {
	c.evidence[0].layer.origin == "base"
} else := fix

fix_of(p, created) := text if {
	metas := cuda_metas(p)
	count(metas) > 0
	meta := metas[count(metas) - 1]
	text := sprintf(
		"replace `%s` in the %s by `cuda-libraries-%s` (to run) or `cuda-toolkit-%s` (to compile): these bring no driver",
		[meta, installer(p, created), release(meta), release(meta)],
	)
} else := text if {
	"nvidia-opencl-dev" in pulled_by(p)
	text := sprintf(
		"replace `nvidia-opencl-dev` in the %s by `ocl-icd-opencl-dev`: it compiles OpenCL programs and brings no driver",
		[installer(p, created)],
	)
} else := text if {
	tools := [by | some by in pulled_by(p); regex.match(`^(nvidia-cuda-(toolkit|dev)|libcuinj64-.*)$`, by)]
	count(tools) > 0
	text := sprintf(
		"keep `%s` in a build stage and copy only what it built into the final stage; or install NVIDIA's `cuda-libraries-<major>-<minor>` instead: it brings no driver",
		[tools[count(tools) - 1]],
	)
} else := text if {
	count(pulled_by(p)) > 0
	text := sprintf(
		"leave `%s` out of the %s, or install it with `--no-install-recommends` if it only recommends `%s`; the host's driver is injected at start",
		[list(pulled_by(p), 3), installer(p, created), p.name],
	)
} else := sprintf(
	"drop `%s` from the %s: the NVIDIA container toolkit injects the host's driver at start",
	[p.name, installer(p, created)],
)

# files_fix says how to get rid of driver files.
files_fix(c) := package_fix(c) if {
	has_package(c)
} else := of_base(c, copied_fix(c))

copied_fix(c) := text if {
	stubbed := [name | some name in names(c); name in {"libcuda.so", "libnvidia-ml.so"}]
	count(stubbed) > 0
	text := sprintf(
		"do not copy %s* into the image: link against the stub in /usr/local/cuda/lib64/stubs at build time and let the NVIDIA container toolkit inject the driver",
		[stubbed[0]],
	)
} else := sprintf(
	"do not copy %s into the image: the NVIDIA container toolkit injects the host's own at start",
	[list(names(c), 3)],
)

# known tells that a verdict has a driver version in the field.
known(c, field) if {
	is_string(c[field])
	c[field] != ""
}

# drivers_text names the drivers and targets of a verdict.
drivers_text(c) := text if {
	drivers := distinct(c.drivers)
	targets := strings(c.targets)
	count(drivers) > 0
	not same(drivers, targets)
	text := sprintf("driver %s (%s)", [list(drivers, 3), list(targets, 3)])
} else := sprintf("driver %s", [list(distinct(c.drivers), 3)]) if {
	count(distinct(c.drivers)) > 0
} else := list(strings(c.targets), 3)

distinct(x) := sort({s | some s in strings(x)})

# A target from flags is named after its driver, which need not be said twice.
same(drivers, targets) if {
	every t in targets { named_after(t, drivers) }
}

named_after(t, drivers) if {
	some d in drivers
	contains(t, d)
}
