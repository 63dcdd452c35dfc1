package receiving

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// burstPatience bounds the time to write that many messages: the tests' phones
// encrypt every one for every device.
const burstPatience = 3 * time.Minute

var burstSize = flag.Int("burst", 600, "how many messages a burst has; 2000 is as many as whatsmeow keeps in order")

func TestBurst_IsStoredOnceAndInOrder(t *testing.T) {
	t.Parallel()
	burst := *burstSize
	if UnderRaceDetector {
		burst = min(burst, 300) // a race among 2,000 shows with 300, too
	}
	c := PairedCast(t, "LOG_LEVEL=info")
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Busy", Members: []*simnet.Phone{c.Ben, c.Carla}})
	for _, chat := range []struct {
		name    string
		to      simnet.JID
		writers []*simnet.Phone
		list    string
	}{
		{"between two", c.Owner.PN(), []*simnet.Phone{c.Anna}, Path("/api/messages/individual/%s", c.Anna.PN())},
		{"in a group", group.JID(), []*simnet.Phone{c.Ben, c.Carla}, Path("/api/groups/%s/messages", group.JID())},
	} {
		t.Run(chat.name, func(t *testing.T) {
			began := time.Now()
			text := func(i int) string { return fmt.Sprintf("message %d of the burst", i) }
			ctx, cancel := context.WithTimeout(t.Context(), burstPatience)
			defer cancel()
			ids := Must(simnet.Burst(ctx, chat.writers, chat.to, burst, text))(t)
			if err := c.Device.WaitAcknowledged(ctx, ids...); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d messages sent and stored in %v", burst, time.Since(began))
			isWhole(t, c, chat.list, ids, len(chat.writers))
		})
	}
}

// isWhole compares a stored chat with the messages sent into it: every message
// once, each writer's in the order of sending, and the pages by cursor and by
// offset equal to the whole, in both orders.
func isWhole(t *testing.T, c *Cast, list string, sent []simnet.MessageID, writers int) {
	t.Helper()
	ids := Pages(t, c.Bridge, list+"?order=asc&limit=1000", "messages", "msgId")
	if got, want := slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(sent)); !slices.Equal(got, want) {
		t.Fatalf("stored are %d messages, sent were %d, or others", len(ids), len(sent))
	}
	// The ids alternate between writers, each in his own order.
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	for i := writers; i < len(sent); i++ {
		if place[sent[i]] < place[sent[i-writers]] {
			t.Fatalf("message %d is stored before message %d of the same writer", i, i-writers)
		}
	}
	isOrdered(t, c, list)
	for order, want := range map[string][]string{"asc": ids, "desc": Reversed(ids)} {
		const limit = 333
		if got := byOffset(t, c, list, order, limit, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s by offset: not the pages of the whole", order)
		}
		if got := Pages(t, c.Bridge, fmt.Sprintf("%s?order=%s&limit=%d", list, order, limit), "messages", "msgId"); !slices.Equal(got, want) {
			t.Errorf("%s by cursor: not the pages of the whole", order)
		}
		if got := byOffset(t, c, list, order, 7, 70); !slices.Equal(got, want[:70]) {
			t.Errorf("%s by offset: not the small pages of the whole", order)
		}
	}
}

// isOrdered checks that no message is older than the one before it.
func isOrdered(t *testing.T, c *Cast, list string) {
	t.Helper()
	var page struct{ Messages []bridge.Message }
	c.Bridge.Get(list + "?order=asc&limit=1000").Want(http.StatusOK).Decode(&page)
	for i := 1; i < len(page.Messages); i++ {
		if page.Messages[i].Timestamp.Before(page.Messages[i-1].Timestamp.Time) {
			t.Fatalf("message %d is older than the one before it", i)
		}
	}
}

// byOffset reads the first messages of a list in pages by offset.
func byOffset(t *testing.T, c *Cast, list, order string, limit, count int) (all []string) {
	t.Helper()
	for offset := 0; offset < count; offset += limit {
		var page struct{ Messages []bridge.Message }
		c.Bridge.Get(fmt.Sprintf("%s?order=%s&limit=%d&offset=%d", list, order, limit, offset)).Want(http.StatusOK).Decode(&page)
		for _, m := range page.Messages {
			all = append(all, m.ID)
		}
	}
	return all
}
