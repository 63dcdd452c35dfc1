package fleet

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// A form with a file takes the file from the bucket.
func TestRequests_AFileIsNamed(t *testing.T) {
	t.Parallel()
	c := serveAPI(t, "named", func(w http.ResponseWriter, r *http.Request) {
		file, head, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := io.ReadAll(file)
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s %s %d %v", r.FormValue("jid"), head.Filename, head.Header.Get("Content-Type"), len(data), err)
	})
	form := object{"method": "POST", "path": "/api/messages/send-file", "form": object{"jid": "x@y"}, "file": object{"name": "pic", "fileName": `a "b".png`, "contentType": "image/png"}}
	absent := object{"method": "POST", "path": "/", "form": object{}, "file": object{"name": "absent"}}
	c.refused(ada, absent, CodeFileNotFound, 404, "NAMED_FILES")
	bucket, err := c.js.ObjectStore(t.Context(), "NAMED_FILES")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutBytes(t.Context(), "pic", make([]byte, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.call(ada, form); string(got.Body) != `"x@y a \"b\".png image/png 2097152 <nil>"` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	info, err := bucket.GetInfo(t.Context(), "pic")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.AddLink(t.Context(), "link", info); err != nil {
		t.Fatal(err)
	}
	form["file"] = object{"name": "link"}
	c.refused(ada, form, CodeFileNotFound, 404, "is a link")
}

// A node that is behind has an object in part. The rest is waited for, and what is not
// what its digest says is refused.
func TestFiles_OfANodeThatIsBehind(t *testing.T) {
	t.Parallel()
	c := connect(t, sharedCluster(t).URL(), "behind")
	f := files{&link{js: c.js, options: Options{Prefix: "behind", Stream: Limits{Replicas: 3}}}}
	if _, err := f.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	chunks := [][]byte{bytes.Repeat([]byte{1}, chunkBytes), bytes.Repeat([]byte{2}, chunkBytes), {3}}
	content := bytes.Join(chunks, nil)
	read := func(name string, order ...int) (got []byte, failed, err error) {
		digest := sha256.New()
		digest.Write(content)
		info := &jetstream.ObjectInfo{ObjectMeta: jetstream.ObjectMeta{Name: name}, NUID: name, Chunks: 3, Size: uint64(len(content)), Digest: jetstream.GetObjectDigestValue(digest)}
		write := func(chunk int) {
			if _, err := c.js.Publish(t.Context(), f.chunks(name), chunks[chunk]); err != nil {
				t.Error(err)
			}
		}
		write(order[0])
		if err := f.writeInfo(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		o, err := f.get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer o.content.Stop()
		r, w := io.Pipe()
		go func() { w.CloseWithError(o.copyTo(t.Context(), w)) }()
		first := make([]byte, chunkBytes)
		if _, err := io.ReadFull(r, first); err != nil {
			t.Fatal(err)
		}
		for _, chunk := range order[1:] {
			write(chunk)
		}
		rest, err := io.ReadAll(r)
		if failure := o.failure.Load(); failure != nil {
			failed = failure
		}
		return append(first, rest...), failed, err
	}
	if got, failed, err := read("late", 0, 1, 2); err != nil || !bytes.Equal(got, content) || failed != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, failed, err := read("corrupt", 0, 2, 1); bridge.CodeOf(err) != CodeFilesUnavailable || failed == nil {
		t.Errorf("chunks out of place: %v", err)
	}
}
