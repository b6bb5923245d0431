package main

import (
	"strings"

	t "github.com/gpulint/gpulint/internal/testimage"
)

// layerCases are about what the layers together show.
func layerCases() []testCase {
	driver := t.Reg("opt/driver/libcuda.so.535.161.08", t.DriverLibrary("libcuda.so.1", rm535))
	copied := t.Layer{CreatedBy: "COPY driver /opt/driver # buildkit", Files: []t.File{t.Dir("opt"), t.Dir("opt/driver"), driver}}
	shadowed := []string{"GPU108 note", "  /opt/driver/libcuda.so.535.161.08 @1"}
	status := status(baseFiles)
	return []testCase{
		{"deleted-later", oci("deleted-later", t.Image{Layers: []t.Layer{
			base(), apt(libcuda1()), {
				CreatedBy: "RUN /bin/sh -c apt-get purge -y libcuda1 # buildkit",
				Files: []t.File{
					t.Whiteout(lib + "libcuda.so"), t.Whiteout(lib + "libcuda.so.1"), t.Whiteout(lib + "libcuda.so.535.161.08"),
					t.Whiteout(info + "libcuda1:amd64.list"), status,
				},
			},
		}}), want{
			About:    "installed by one layer, removed by a later one: it still ships",
			Findings: []string{"GPU108 note", "  /" + lib + "libcuda.so.535.161.08 @1 libcuda1"},
		}},
		{"dir-replaced-by-link", oci("dir-replaced-by-link", t.Image{Layers: []t.Layer{
			base(), copied, {
				CreatedBy: "RUN /bin/sh -c rm -rf /opt/driver && ln -s /usr/share /opt/driver # buildkit",
				Files:     []t.File{t.Symlink("opt/driver", "/usr/share")},
			},
		}}), want{About: "a directory replaced by a link: no whiteout hides its files, and still none shows", Findings: shadowed}},
		{"opaque", oci("opaque", t.Image{Layers: []t.Layer{
			base(), copied, {
				CreatedBy: "COPY empty /opt/driver # buildkit", Files: []t.File{t.Opaque("opt/driver"), t.Text("opt/driver/README", "moved\n")},
			},
		}}), want{About: "an opaque directory hides what lower layers have in it", Findings: shadowed}},
		{"usrmerge", oci("usrmerge", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c dpkg -i libcuda1.deb # buildkit",
			Files: []t.File{
				t.Reg(lib+"libcuda.so.535.161.08", t.DriverLibrary("libcuda.so.1", rm535)),
				// dpkg's list says /lib, which is a link to /usr/lib.
				t.Text(info+"libcuda1.list", "/.\n/lib/x86_64-linux-gnu/libcuda.so.535.161.08\n"),
				t.Text("var/lib/dpkg/status", baseFiles.record()+libcuda1().record()),
			},
		}}}), want{
			About: "the owner of a file is found although dpkg names it through a linked directory", Status: 1,
			Findings: []string{"GPU101 error", "  /" + lib + "libcuda.so.535.161.08 @1 libcuda1 535.161.08-1"},
		}},
		{"statusd", oci("statusd", t.Image{Layers: []t.Layer{{
			CreatedBy: "bazel build //:image",
			Files: []t.File{
				t.Reg(lib+"libcuda.so.535.161.08", t.DriverLibrary("libcuda.so.1", rm535)),
				t.Text("var/lib/dpkg/status.d/libcuda1", strings.Replace(libcuda1().record(), "Status: install ok installed\n", "", 1)),
				t.Text("var/lib/dpkg/status.d/libcuda1.md5sums", "d41d8cd98f00b204e9800998ecf8427e  "+lib+"libcuda.so.535.161.08\n"),
			},
		}}}), want{
			About: "a distroless image: one record a package, files by md5sums", Status: 1,
			Findings: []string{"GPU101 error", "  /" + lib + "libcuda.so.535.161.08 @0 libcuda1 535.161.08-1"},
		}},
		{"path-too-long", oci("path-too-long", t.Image{Layers: []t.Layer{base(), {
			CreatedBy: "RUN /bin/sh -c ./build.sh # buildkit",
			Files:     []t.File{t.Text(strings.Repeat("a/", 3000)+"f", "x")},
		}}}), want{
			About: "a path longer than any file system holds: the scan says what it left out", Status: 1,
			Findings: []string{"GPU901 error", "  /" + strings.Repeat("a/", 32) + "… @1"},
		}},
	}
}
