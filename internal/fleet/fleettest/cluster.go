// Package fleettest runs real NATS servers in this process for tests: one server, or a cluster of
// three with JetStream. Nodes can be stopped and started again with the same ports and
// directories.
package fleettest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// timeout limits everything that a test waits for.
const timeout = time.Minute

// Cluster is a number of NATS servers that form a cluster.
type Cluster struct {
	dir     string
	guard   net.Listener // reserves the ports until it is garbage-collected
	clients []int        // ports
	routes  []int

	mu    sync.Mutex
	nodes []*server.Server // nil for a stopped node; guarded by mu
}

// Start starts a cluster with its files in dir, and returns when the cluster accepts streams.
func Start(dir string, nodes int) (*Cluster, error) {
	ports, guard, err := reservePorts(2 * nodes)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, guard: guard, clients: ports[:nodes], routes: ports[nodes:], nodes: make([]*server.Server, nodes)}
	if err := c.StartAll(); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Ports are chosen in blocks, lower than the ports that systems assign themselves, so that they
// stay free while a node is stopped.
const (
	lowestPort   = 15000
	highestPort  = 32000
	portsOfBlock = 16
)

// reservePorts returns free ports of a block, and the listener on its first port. The listener
// shows other clusters that the block is in use.
func reservePorts(n int) (ports []int, guard net.Listener, err error) {
	for range 100 {
		first := lowestPort + rand.IntN((highestPort-lowestPort)/portsOfBlock)*portsOfBlock
		if guard, err = listen(first); err != nil {
			continue // the block is in use
		}
		ports = nil
		for port := first + 1; port < first+portsOfBlock && len(ports) < n; port++ {
			if listener, err := listen(port); err == nil && listener.Close() == nil {
				ports = append(ports, port)
			}
		}
		if len(ports) == n {
			return ports, guard, nil
		}
		err = errors.Join(errors.New("there are no free ports"), guard.Close())
	}
	return nil, nil, err
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
}

// URL returns the addresses of all nodes.
func (c *Cluster) URL() string {
	var urls []string
	for _, port := range c.clients {
		urls = append(urls, "nats://127.0.0.1:"+strconv.Itoa(port))
	}
	return strings.Join(urls, ",")
}

func (c *Cluster) options(i int) *server.Options {
	o := &server.Options{
		ServerName: fmt.Sprintf("node-%d", i+1), Host: "127.0.0.1", Port: c.clients[i],
		JetStream: true, StoreDir: filepath.Join(c.dir, strconv.Itoa(i+1)), NoLog: true, NoSigs: true,
	}
	if len(c.clients) == 1 {
		return o
	}
	o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: c.routes[i], PoolSize: -1}
	for _, port := range c.routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: "127.0.0.1:" + strconv.Itoa(port)})
	}
	return o
}

// StartNode starts a node.
func (c *Cluster) StartNode(i int) error {
	node, err := server.NewServer(c.options(i))
	if err != nil {
		return fmt.Errorf("node %d: %w", i+1, err)
	}
	node.Start()
	c.mu.Lock()
	c.nodes[i] = node
	c.mu.Unlock()
	if !node.ReadyForConnections(timeout) {
		return fmt.Errorf("node %d does not accept connections", i+1)
	}
	return nil
}

// StopNode stops a node and waits until it has ended.
func (c *Cluster) StopNode(i int) {
	c.mu.Lock()
	node := c.nodes[i]
	c.nodes[i] = nil
	c.mu.Unlock()
	if node != nil {
		node.Shutdown()
		node.WaitForShutdown()
	}
}

// Stop stops all nodes.
func (c *Cluster) Stop() {
	var all sync.WaitGroup
	for i := range c.clients {
		all.Go(func() { c.StopNode(i) })
	}
	all.Wait()
}

// StartAll starts the stopped nodes and waits until the cluster accepts streams.
func (c *Cluster) StartAll() error {
	running := c.running()
	for i := range c.clients {
		if running[i] == nil {
			if err := c.StartNode(i); err != nil {
				return err
			}
		}
	}
	return c.waitReady()
}

// running returns the running nodes by number.
func (c *Cluster) running() map[int]*server.Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := make(map[int]*server.Server)
	for i, node := range c.nodes {
		if node != nil {
			nodes[i] = node
		}
	}
	return nodes
}

// waitReady waits until all running nodes are connected to each other and have a leader.
func (c *Cluster) waitReady() error {
	return waitFor("the cluster to have a leader", func() bool {
		leaders := 0
		for _, node := range c.running() {
			if len(c.clients) == 1 {
				return node.JetStreamEnabled()
			}
			if !node.JetStreamIsCurrent() {
				return false
			}
			if node.JetStreamIsLeader() {
				leaders++
			}
		}
		return leaders == 1
	})
}

// StreamLeader waits until a stream of the standard account has a leader, and returns its node.
func (c *Cluster) StreamLeader(stream string) (leader int, err error) {
	err = waitFor("the stream "+stream+" to have a leader", func() bool {
		for i, node := range c.running() {
			if node.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
				leader = i
				return true
			}
		}
		return false
	})
	return leader, err
}

// WaitInSync waits until all running nodes have the whole stream.
func (c *Cluster) WaitInSync(stream string) error {
	return waitFor("the stream "+stream+" to be the same everywhere", func() bool {
		for _, node := range c.running() {
			if !node.JetStreamIsStreamCurrent(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
				return false
			}
		}
		return true
	})
}

// WaitSame waits until all nodes with a stream of the standard account have the same messages of
// it. Followers remove messages later than the leader.
func (c *Cluster) WaitSame(stream string) error {
	return waitFor("the nodes to have the same messages of "+stream, func() bool {
		held := map[uint64]bool{}
		for _, node := range c.running() {
			state, err := node.Jsz(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true})
			if err != nil {
				return false
			}
			for _, account := range state.AccountDetails {
				for _, s := range account.Streams {
					if s.Name == stream {
						held[s.State.Msgs] = true
					}
				}
			}
		}
		return len(held) == 1
	})
}

// waitFor waits until isTrue returns true.
func waitFor(what string, isTrue func() bool) error {
	for late := time.Now().Add(timeout); !isTrue(); {
		if time.Now().After(late) {
			return fmt.Errorf("%s: timed out", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
