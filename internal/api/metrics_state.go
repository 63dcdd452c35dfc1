package api

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/bridge"
	"bridged/internal/media"
	"bridged/internal/store"
)

// scrapeTime bounds the queries of a scrape.
const scrapeTime = 5 * time.Second

// state collects how the account, the store and the files are at each scrape.
type state struct {
	store   *store.Store
	account Account
	files   *media.Cache
}

var (
	accountStateDesc = describe("bridged_account_state", "1 for the account's present state, 0 for the others.", "state")

	receivedDesc      = describe("bridged_messages_received_total", "Messages received and stored, own ones from other devices included.")
	undecryptableDesc = describe("bridged_messages_undecryptable_total", "Messages received that could not be decrypted.")
	sentDesc          = describe("bridged_messages_sent_total", "Messages that the network accepted.")
	failedDesc        = describe("bridged_messages_failed_total", "Messages that could not be sent.")
	sentAgainDesc     = describe("bridged_messages_sent_again_total", "Messages that went out once more, for devices that the network said were left out.")
	lastReceivedDesc  = describe("bridged_last_message_received_timestamp_seconds", "When the last message was stored; missing before the first.")

	deliveriesDesc = describe("bridged_webhook_deliveries", "Deliveries to webhooks that are tried again (pending) or were given up (dead).", "status")
	historyDesc    = describe("bridged_history_parts", "Parts of the phone's history that wait, were taken over (done) or were given up.", "status")
	storeSizeDesc  = describe("bridged_store_size_bytes", "Size of the database of chats and messages.")
	logSizeDesc    = describe("bridged_event_log_size_bytes", "Size of the log of events, a part of the store.")
	cacheSizeDesc  = describe("bridged_media_cache_size_bytes", "Size of the files that are kept for downloads.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe is part of prometheus.Collector.
func (s *state) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		accountStateDesc, receivedDesc, undecryptableDesc, sentDesc, failedDesc, sentAgainDesc, lastReceivedDesc,
		deliveriesDesc, historyDesc, storeSizeDesc, logSizeDesc, cacheSizeDesc,
	} {
		descs <- desc
	}
}

// Collect is part of prometheus.Collector.
func (s *state) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	s.collectAccount(metrics)
	s.collectWebhooks(ctx, metrics)
	s.collectHistory(ctx, metrics)
	s.collectSizes(ctx, metrics)
}

func (s *state) collectAccount(metrics chan<- prometheus.Metric) {
	present := s.account.Status().Status
	for _, known := range []bridge.State{bridge.StateIdle, bridge.StateConnecting, bridge.StateOpen, bridge.StateClosed, bridge.StateNeedsPair} {
		value := 0
		if known == present {
			value = 1
		}
		metrics <- gauge(accountStateDesc, value, string(known))
	}
	traffic := s.account.Traffic()
	metrics <- counter(receivedDesc, traffic.Received)
	metrics <- counter(undecryptableDesc, traffic.Undecryptable)
	metrics <- counter(sentDesc, traffic.Sent)
	metrics <- counter(failedDesc, traffic.Failed)
	metrics <- counter(sentAgainDesc, traffic.SentAgain)
	if at := traffic.LastReceivedAt; at != nil {
		metrics <- gauge(lastReceivedDesc, float64(at.UnixMilli())/1000)
	}
}

func (s *state) collectWebhooks(ctx context.Context, metrics chan<- prometheus.Metric) {
	webhooks, err := s.store.Webhooks(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(deliveriesDesc, err)
		return
	}
	var pending, dead int64
	for _, w := range webhooks {
		pending += int64(w.Pending)
		dead += int64(w.Dead)
	}
	metrics <- gauge(deliveriesDesc, pending, "pending")
	metrics <- gauge(deliveriesDesc, dead, "dead")
}

func (s *state) collectHistory(ctx context.Context, metrics chan<- prometheus.Metric) {
	count, err := s.store.HistoryCount(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(historyDesc, err)
		return
	}
	metrics <- gauge(historyDesc, count.Waiting, "waiting")
	metrics <- gauge(historyDesc, count.Done, "done")
	metrics <- gauge(historyDesc, count.GivenUp, "given_up")
}

func (s *state) collectSizes(ctx context.Context, metrics chan<- prometheus.Metric) {
	metrics <- gauge(cacheSizeDesc, s.files.Size())
	size, err := s.store.Size(ctx)
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(storeSizeDesc, err)
		return
	}
	metrics <- gauge(storeSizeDesc, size.Bytes)
	metrics <- gauge(logSizeDesc, size.Log)
}

func gauge[T int | int64 | float64](desc *prometheus.Desc, value T, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
}

func counter[T int | uint64](desc *prometheus.Desc, value T, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}
