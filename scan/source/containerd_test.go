package source

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	content "github.com/containerd/containerd/api/services/content/v1"
	images "github.com/containerd/containerd/api/services/images/v1"
	apitypes "github.com/containerd/containerd/api/types"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gpulint/gpulint/internal/testimage"
)

// fakeContainerd is a containerd that holds images and blobs of one namespace,
// and sends blobs as change has them.
type fakeContainerd struct {
	content.UnimplementedContentServer
	space  string
	images map[string]testimage.Blob
	blobs  map[string][]byte
	change func(digest string, pieces []*content.ReadContentResponse) ([]*content.ReadContentResponse, error)
}

func (f *fakeContainerd) in(ctx context.Context) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	return strings.Join(md.Get("containerd-namespace"), ",") == f.space
}

// fakeImages is its images service.
type fakeImages struct {
	images.UnimplementedImagesServer
	*fakeContainerd
}

// Get implements the images service.
func (f fakeImages) Get(ctx context.Context, r *images.GetImageRequest) (*images.GetImageResponse, error) {
	b, ok := f.images[r.GetName()]
	if !ok || !f.in(ctx) {
		return nil, status.Error(codes.NotFound, "not found")
	}
	return &images.GetImageResponse{Image: &images.Image{Name: r.GetName(), Target: &apitypes.Descriptor{
		MediaType: b.MediaType, Digest: b.Digest, Size: b.Size,
	}}}, nil
}

// Info implements the content service.
func (f *fakeContainerd) Info(ctx context.Context, r *content.InfoRequest) (*content.InfoResponse, error) {
	if _, ok := f.blobs[r.GetDigest()]; !ok || !f.in(ctx) {
		return nil, status.Error(codes.NotFound, "not found")
	}
	return &content.InfoResponse{Info: &content.Info{Digest: r.GetDigest()}}, nil
}

// Read implements the content service.
func (f *fakeContainerd) Read(r *content.ReadContentRequest, s content.Content_ReadServer) error {
	b, ok := f.blobs[r.GetDigest()]
	if !ok || !f.in(s.Context()) {
		return status.Error(codes.NotFound, "not found")
	}
	var pieces []*content.ReadContentResponse
	for off := 0; off < len(b); off += 1000 {
		pieces = append(pieces, &content.ReadContentResponse{Offset: int64(off), Data: b[off:min(off+1000, len(b))]})
	}
	var err error
	if f.change != nil {
		pieces, err = f.change(r.GetDigest(), pieces)
	}
	for _, p := range pieces {
		if serr := s.Send(p); serr != nil {
			return serr
		}
	}
	return err
}

// serve starts the fake and has CONTAINERD_ADDRESS name it.
func (f *fakeContainerd) serve(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "c") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", p)
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer()
	images.RegisterImagesServer(srv, fakeImages{fakeContainerd: f})
	content.RegisterContentServer(srv, f)
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(srv.Stop)
	t.Setenv("CONTAINERD_ADDRESS", "unix://"+p)
	t.Setenv("CONTAINERD_NAMESPACE", "")
}

// fake is a containerd of the image small, for two platforms.
func fake(space string) (*fakeContainerd, testimage.Built) {
	b := small(testimage.Gzip).Build()
	other := small(testimage.Gzip)
	other.Platform = "linux/arm64"
	arm := other.Build()
	index := testimage.Index(arm.Manifest, b.Manifest)
	f := &fakeContainerd{space: space, blobs: map[string][]byte{}, images: map[string]testimage.Blob{
		"docker.io/library/app:latest": index, "registry.example.com:5000/team/app:1.2": b.Manifest,
	}}
	for _, blob := range append([]testimage.Blob{index, b.Manifest, b.Config}, b.Layers...) {
		f.blobs[blob.Digest] = blob.Data
	}
	return f, b
}

// TestContainerd opens images by their full and short names in every
// namespace; of an index those that the node has fetched.
func TestContainerd(t *testing.T) { //nolint:paralleltest // the environment names the socket
	for _, space := range []string{"default", "k8s.io", "moby", "other"} {
		f, b := fake(space)
		f.serve(t)
		if space == "other" {
			t.Setenv("CONTAINERD_NAMESPACE", "other")
		}
		for image, repo := range map[string]string{
			"registry.example.com:5000/team/app:1.2": "registry.example.com:5000/team/app", "app": "docker.io/library/app",
		} {
			s, err := OpenContainerd(t.Context(), "containerd:"+image, image, Options{AllPlatforms: true})
			if err != nil || len(s.Images) != 1 {
				t.Fatalf("%s: %+v, %v", image, s, err)
			}
			stored := []string{b.Layers[0].Digest, b.Layers[1].Digest}
			want := summary{
				Kind: KindContainerd, Name: repo, Platform: "linux/amd64", Digests: stored, Content: stored,
				DiffIDs: b.DiffIDs, CreatedBy: []string{"ADD rootfs.tar /", "COPY app /"},
			}
			if diff := cmp.Diff(want, summarize(t, s.Images[0])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", image, diff)
			}
			if got := strings.Join(s.Images[0].AbsentPlatforms, " "); image == "app" && got != "linux/arm64" {
				t.Errorf("absent platforms: %q", got)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestContainerdErrors holds what is said of what is not there, of what lies,
// and of what breaks.
func TestContainerdErrors(t *testing.T) {
	const image = "registry.example.com:5000/team/app:1.2"
	f, b := fake("default")
	f.serve(t)
	read := func(ref string) error {
		s, err := OpenContainerd(t.Context(), "containerd:"+ref, ref, Options{})
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		blob, err := s.Images[0].Layers[1].Open(t.Context())
		if err != nil {
			return fail("containerd:"+ref, "reading", err)
		}
		defer func() { _ = blob.Close() }()
		if _, err := new(bytes.Buffer).ReadFrom(blob); err != nil {
			return fail("containerd:"+ref, "reading", err)
		}
		return nil
	}
	isError(t, read("nope:1"), "containerd:nope:1", "it has no such image in the namespaces [default k8s.io moby]")
	if s, err := LocalContainerd(t.Context(), "nope:1", Options{}); s != nil || err != nil {
		t.Errorf("not there: %v, %v", s, err)
	}
	type pieces = []*content.ReadContentResponse
	for want, change := range map[string]func(string, pieces) (pieces, error){
		"were due": func(_ string, p pieces) (pieces, error) {
			p[len(p)-1].Offset++
			return p, nil
		},
		"unexpected EOF": func(d string, p pieces) (pieces, error) {
			if d != b.Layers[1].Digest {
				return p, nil
			}
			return nil, nil
		},
		"sent more than": func(_ string, p pieces) (pieces, error) {
			last := p[len(p)-1]
			return append(p, &content.ReadContentResponse{Offset: last.Offset + int64(len(last.Data)), Data: []byte("x")}), nil
		},
		"on fire":                           func(string, pieces) (pieces, error) { return nil, status.Error(codes.Internal, "disk on fire") },
		"the blob is missing in containerd": func(string, pieces) (pieces, error) { return nil, status.Error(codes.NotFound, "x") },
		"wrong digest": func(_ string, p pieces) (pieces, error) {
			p[0].Data = append([]byte("x"), p[0].Data[1:]...)
			return p, nil
		},
	} {
		f.change = change
		isError(t, read(image), "containerd:"+image, want)
	}
	f.change = nil
	delete(f.blobs, b.Layers[1].Digest)
	isError(t, read(image), "containerd:"+image, "nodes may discard layers")
	t.Setenv("CONTAINERD_ADDRESS", "/nowhere/c.sock")
	isError(t, read(image), "containerd:"+image, "containerd cannot be reached")
}

// TestContainerdStalls holds that containerd is not waited for without end once
// it sends nothing.
func TestContainerdStalls(t *testing.T) { //nolint:paralleltest // the environment names the socket
	f, b := fake("default")
	hung := make(chan struct{})
	defer close(hung)
	f.change = func(d string, p []*content.ReadContentResponse) ([]*content.ReadContentResponse, error) {
		if d == b.Layers[1].Digest {
			<-hung
		}
		return p, nil
	}
	f.serve(t)
	s, err := OpenContainerd(t.Context(), "containerd:app", "app", Options{Stall: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	blob, err := s.Images[0].Layers[1].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = blob.Close() }()
	_, err = blob.Read(make([]byte, 1))
	if want := "containerd sent nothing for 50ms, after 0 of"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
