package wa_test

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// TestPreKeys_OfAnUploadAreStoredTogether: otherwise 812 commits, each with a wait
// for the disk, precede the first login.
func TestPreKeys_OfAnUploadAreStoredTogether(t *testing.T) {
	t.Parallel()
	network, dir := newNetwork(t), t.TempDir()
	a := startAccount(t, network, dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "session.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const fault = "CREATE TRIGGER fault BEFORE INSERT ON whatsmeow_pre_keys WHEN NEW.key_id = 10 BEGIN SELECT RAISE(ABORT, 'the 10th fails'); END"
	if _, err := db.ExecContext(t.Context(), fault); err != nil {
		t.Fatal(err)
	}
	count := func() (keys int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM whatsmeow_pre_keys").Scan(&keys); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if got := count(); got != 0 {
		t.Errorf("%d keys are stored of an upload whose 10th failed, want none", got)
	}
	if _, err := db.ExecContext(t.Context(), "DROP TRIGGER fault"); err != nil {
		t.Fatal(err)
	}
	a.device().Drop()
	if err := a.device().WaitPreKeys(testContext(t), 1); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != preKeyBatch {
		t.Errorf("%d keys are stored for the next login, want %d", got, preKeyBatch)
	}
}
