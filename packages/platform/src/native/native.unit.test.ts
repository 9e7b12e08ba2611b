// The native provider's pure parts.
import { describe, expect, test } from '@jest/globals';
import { cachePath } from './build-cache.js';
import { findDebianMirror } from './debian-root.js';
import { brokerProperties } from './kafka-properties.js';
import { randomClusterId } from './kafka-cluster-id.js';
import { distribution, isGoNewEnough, javaVersion, nativeObstacleIn, type MachineFacts } from './machine.js';
import { postgresqlOptions } from './postgresql.js';

const debian: MachineFacts = {
  platform: 'linux',
  userId: 0,
  osRelease: 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n',
  mayMount: true,
};

describe('native servers', () => {
  test('run as root on Debian and on distributions derived from it', () => {
    expect(nativeObstacleIn(debian)).toBeUndefined();
    expect(nativeObstacleIn({ ...debian, osRelease: 'ID=ubuntu\nID_LIKE=debian\n' })).toBeUndefined();
    expect(
      nativeObstacleIn({ ...debian, osRelease: 'ID=linuxmint\nID_LIKE="ubuntu debian"\n' }),
    ).toBeUndefined();
  });

  test.each([
    [{ platform: 'darwin' as const }, /not Linux/],
    [{ osRelease: 'ID=fedora\n' }, /fedora, not Debian or Ubuntu/],
    [{ osRelease: '' }, /unknown/],
    [{ userId: 1000 }, /not root/],
    [{ mayMount: false }, /privileged/],
  ])('do not run where %j, and say why', (facts, reason) => {
    expect(nativeObstacleIn({ ...debian, ...facts })).toMatch(reason);
  });

  test('are installed below the cache folder of the user', () => {
    expect(cachePath({ XDG_CACHE_HOME: '/cache', HOME: '/home/a' })).toBe('/cache/lead-scoring');
    expect(cachePath({ XDG_CACHE_HOME: '', HOME: '/home/a' })).toBe('/home/a/.cache/lead-scoring');
  });

  test('distinguish Debian from Ubuntu, which has other mirrors', () => {
    expect(distribution('ID=ubuntu\nID_LIKE=debian\n')).toBe('ubuntu');
    expect(distribution('ID="debian"\n')).toBe('debian');
  });

  test('read the versions that Java and Go print', () => {
    expect(javaVersion('openjdk version "17.0.15" 2025-04-15')).toBe(17);
    expect(javaVersion('java version "1.8.0_292"')).toBe(8);
    expect(javaVersion('no such file')).toBeUndefined();
    expect(isGoNewEnough('go version go1.26.8 linux/amd64')).toBe(true);
    expect(isGoNewEnough('go version go1.25 linux/amd64')).toBe(true);
    expect(isGoNewEnough('go version go1.19.8 linux/amd64')).toBe(false);
    expect(isGoNewEnough('')).toBe(false);
  });

  test("take the mirror of Debian's main archive from apt's own sources", () => {
    const targets = [
      'https://packages.vendor.example/|Vendor|Vendor|main',
      'http://mirror.example/debian-security/|Debian|Debian-Security|main',
      'http://mirror.example/debian/|Debian|Debian|main',
    ].join('\n');
    expect(findDebianMirror(targets)).toBe('http://mirror.example/debian/');
    expect(findDebianMirror('')).toBeUndefined();
  });
});

describe('a broker', () => {
  test('without others is in sync by itself', () => {
    const properties = brokerProperties({
      id: 1,
      port: 1001,
      controllerPorts: [2001],
      logDirectory: '/data',
    });
    expect(properties).toContain('listeners=PLAINTEXT://127.0.0.1:1001,CONTROLLER://127.0.0.1:2001\n');
    expect(properties).toContain('offsets.topic.replication.factor=1\n');
    expect(properties).toContain('offsets.retention.minutes=2147483647\n');
    expect(properties).toContain('min.insync.replicas=1\n');
    expect(properties).toContain('transaction.state.log.min.isr=1\n');
  });

  test('behind a proxy advertises the proxy on that listener only', () => {
    const properties = brokerProperties({
      id: 1,
      port: 1001,
      controllerPorts: [2001],
      logDirectory: '/data',
      proxied: { port: 1002, proxyPort: 3001 },
    });
    expect(properties).toContain(
      'advertised.listeners=PLAINTEXT://127.0.0.1:1001,PROXIED://127.0.0.1:3001\n',
    );
    expect(properties).toContain('PROXIED://127.0.0.1:1002\n');
    expect(properties).toContain('inter.broker.listener.name=PLAINTEXT\n');
  });

  test('of three has replication factor 3, and acknowledges a record when two replicas have it', () => {
    const properties = brokerProperties({
      id: 2,
      port: 1002,
      controllerPorts: [2001, 2002, 2003],
      logDirectory: '/data',
    });
    expect(properties).toContain('node.id=2\n');
    expect(properties).toContain(
      'controller.quorum.voters=1@127.0.0.1:2001,2@127.0.0.1:2002,3@127.0.0.1:2003\n',
    );
    expect(properties).toContain('default.replication.factor=3\n');
    expect(properties).toContain('transaction.state.log.replication.factor=3\n');
    expect(properties).toContain('min.insync.replicas=2\n');
  });

  test('listens on this machine only', () => {
    const properties = brokerProperties({
      id: 1,
      port: 1001,
      controllerPorts: [2001],
      logDirectory: '/data',
    });
    expect(properties).not.toMatch(/:\/\/(?!127\.0\.0\.1)/);
  });

  test("gets a cluster id that Kafka's tools do not take for an option", () => {
    const ids = Array.from({ length: 1_000 }, randomClusterId);
    expect(ids.every((id) => /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/.test(id))).toBe(true);
  });
});

describe('PostgreSQL', () => {
  test('syncs kept data to disk, and temporary data not', () => {
    expect(postgresqlOptions(5432, false)).not.toContain('fsync=off');
    expect(postgresqlOptions(5432, false)).toContain('synchronous_commit=on');
    expect(postgresqlOptions(5432, true)).toContain('synchronous_commit=off');
    expect(postgresqlOptions(5432, true)).toContain('fsync=off');
  });

  test.each([true, false])('survives a crash of its processes (temporary: %s)', (temporary) => {
    expect(postgresqlOptions(5432, temporary)).toContain('full_page_writes=on');
  });

  test('listens on this machine only', () => {
    expect(postgresqlOptions(5432, false)).toContain('listen_addresses=127.0.0.1');
  });
});
