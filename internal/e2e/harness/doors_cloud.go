package harness

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"testing"
)

// NewCloudScene is a paired bridge with the Cloud door open, and with what its tests need.
func NewCloudScene(t *testing.T) DoorScene {
	t.Helper()
	return NewDoorScene(t, "COMPAT=cloud", "COMPAT_URL_TOKEN=true", "WEBHOOK_ALLOW_PRIVATE=127.0.0.1/32", FetchesLoopback)
}

const CloudAccount = "491510000001"

// Bearer returns the headers of a client of the Cloud API.
func Bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}
}

// UploadTo uploads a file as clients do, and returns its id.
func (s DoorScene) UploadTo(t *testing.T, name string, file []byte) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part := Must(w.CreateFormFile("file", name))(t)
	_, err := part.Write(file)
	if err := errors.Join(err, w.WriteField("messaging_product", "whatsapp"), w.Close()); err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Authorization": "Bearer " + s.Full, "Content-Type": w.FormDataContentType()}
	resp, answer := s.Ask(t, DoorRequest{"POST", s.Address + "/cloud/v21.0/" + CloudAccount + "/media", header, form.String()})
	id, _ := At(answer, "id").(string)
	if resp.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("uploaded: %d %v", resp.StatusCode, answer)
	}
	return id
}
