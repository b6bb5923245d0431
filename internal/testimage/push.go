package testimage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Push puts an image into a registry that asks for no credentials, at
// http://host, under a tag.
func (b Built) Push(ctx context.Context, host, repository, tag string) error {
	for _, blob := range append(append([]Blob{}, b.Layers...), b.Config) {
		if err := PushBlob(ctx, host, repository, blob); err != nil {
			return err
		}
	}
	return PushManifest(ctx, host, repository, tag, b.Manifest)
}

// PushIndex puts an index and its images into a registry.
func PushIndex(ctx context.Context, host, repository, tag string, index Blob, images ...Built) error {
	for _, b := range images {
		if err := b.Push(ctx, host, repository, b.Manifest.Digest); err != nil {
			return err
		}
	}
	return PushManifest(ctx, host, repository, tag, index)
}

// PushBlob uploads one blob.
func PushBlob(ctx context.Context, host, repository string, b Blob) error {
	start := fmt.Sprintf("http://%s/v2/%s/blobs/uploads/", host, repository)
	res, err := send(ctx, http.MethodPost, start, "", nil)
	if err != nil {
		return err
	}
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		return err
	}
	from, err := url.Parse(start)
	if err != nil {
		return err
	}
	to = from.ResolveReference(to)
	q := to.Query()
	q.Set("digest", b.Digest)
	to.RawQuery = q.Encode()
	_, err = send(ctx, http.MethodPut, to.String(), "application/octet-stream", b.Data)
	return err
}

// PushManifest uploads a manifest or index under a tag or digest.
func PushManifest(ctx context.Context, host, repository, tag string, m Blob) error {
	_, err := send(ctx, http.MethodPut, fmt.Sprintf("http://%s/v2/%s/manifests/%s", host, repository, tag), m.MediaType, m.Data)
	return err
}

func send(ctx context.Context, method, to, mediaType string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, to, res.Status, text)
	}
	return res, nil
}
