package main

import t "github.com/gpulint/gpulint/internal/testimage"

// formatCases are the same image in every form in which images are saved.
func formatCases() []testCase {
	copied := t.Layer{CreatedBy: "/bin/sh -c #(nop) COPY file:5c2e in /usr/lib/x86_64-linux-gnu/ ", Files: []t.File{
		t.Reg(lib+"libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
	}}
	// The same layer twice is one blob, and an old archive links to it.
	twice := t.Layer{CreatedBy: "/bin/sh -c mkdir -p /data", Files: []t.File{t.Dir("data")}}
	img := func(ref, compression string) t.Built {
		return t.Image{Ref: ref, Compression: compression, Layers: []t.Layer{base(), twice, copied, twice}}.Build()
	}
	found := []string{"GPU101 error", "  /" + lib + "libcuda.so.1 @2"}
	arm := t.Image{
		Ref: "cases/multi-platform:1", Platform: "linux/arm64", Compression: t.Gzip,
		Layers: []t.Layer{{CreatedBy: "COPY libcuda.so.1 /usr/lib/ # buildkit", Files: []t.File{
			t.Reg("usr/lib/libcuda.so.1", t.DriverLibrary("libcuda.so.1", rm535)),
		}}},
	}.Build()
	amd := t.Image{Ref: "cases/multi-platform:1", Compression: t.Gzip, Layers: []t.Layer{base(), app()}}.Build()
	return []testCase{
		{"docker-old", img("cases/docker-old:1", t.Plain).DockerArchive(), want{
			About: "docker save before version 25, with a layer that links to an equal one", Status: 1, Findings: found,
		}},
		{"docker-save-25", img("cases/docker-save-25:1", t.Plain).DockerArchive25(), want{
			About: "docker save since version 25", Status: 1, Findings: found,
		}},
		{"zstd", img("cases/zstd:1", t.Zstd).OCIArchive(), want{
			About: "layers compressed with zstd", Status: 1, Findings: found,
		}},
		{"no-name", img("", t.Plain).OCIArchive(), want{
			About: "an archive that does not say what the image is called; layers not compressed", Status: 1, Findings: found,
		}},
		{"multi-platform", t.Tar(t.NestedLayout(amd, arm)...), want{
			About: "an image index: clean for amd64, a driver library for arm64", Args: []string{"--platform", "all"}, Status: 1,
			Findings: []string{"GPU101 error", "  /usr/lib/libcuda.so.1 @0"},
		}},
	}
}
