import { expect, test } from 'vitest';
import { clientAddress, parseTrustedProxies } from '../../runtime/access/client-address.js';

const addressOf = (trusted: string, peer: string | undefined, forwardedFor?: string | string[]): string | null =>
  clientAddress({ peer, forwardedFor }, parseTrustedProxies(trusted));

const CLIENT = '203.0.113.7';
const FORGED = '198.51.100.1';
const NETWORKS = '10.0.0.0/8, 2001:db8:1::/48, 192.0.2.1';

test.each<[what: string, trusted: string, peer: string | undefined, forwardedFor: string | string[] | undefined, address: string | null]>([
  ['nobody is trusted: the connection counts', '', CLIENT, FORGED, CLIENT],
  ['nobody is trusted, not even the machine itself', '', '127.0.0.1', FORGED, '127.0.0.1'],
  ['no proxies is the number 0, too', '0', CLIENT, FORGED, CLIENT],
  ['a peer outside of the networks is not believed', NETWORKS, CLIENT, FORGED, CLIENT],
  ['a trusted peer names its client', NETWORKS, '10.1.2.3', CLIENT, CLIENT],
  ['a trusted peer that names nobody is the client', NETWORKS, '10.1.2.3', undefined, '10.1.2.3'],
  ['so is one with an empty header', NETWORKS, '10.1.2.3', ' , ', '10.1.2.3'],
  ['a network of one address', NETWORKS, '192.0.2.1', CLIENT, CLIENT],
  ['its neighbour is not in it', NETWORKS, '192.0.2.2', CLIENT, '192.0.2.2'],
  ['what the client wrote itself stands before what the proxy saw', NETWORKS, '10.1.2.3', `${FORGED}, ${CLIENT}`, CLIENT],
  ['a forged proxy before the client changes nothing', NETWORKS, '10.1.2.3', `${FORGED}, 10.9.9.9, ${CLIENT}`, CLIENT],
  ['two proxies in a row', NETWORKS, '10.1.2.3', `${FORGED}, ${CLIENT}, 10.4.5.6`, CLIENT],
  ['only proxies: the first of them', NETWORKS, '10.1.2.3', '10.7.7.7,10.4.5.6', '10.7.7.7'],
  ['lines of the header are one list', NETWORKS, '10.1.2.3', [FORGED, CLIENT], CLIENT],
  ['IPv6', NETWORKS, '2001:db8:1::5', '2001:DB8:ff:0:0:0:0:1', '2001:db8:ff::1'],
  ['an IPv6 peer outside', NETWORKS, '2001:db8:2::5', CLIENT, '2001:db8:2::5'],
  ['IPv4 in IPv6 form, as a dual-stack socket shows it', NETWORKS, '::ffff:10.1.2.3', `::ffff:${CLIENT}`, CLIENT],
  ['with a port', NETWORKS, '10.1.2.3', `${CLIENT}:51234`, CLIENT],
  ['IPv6 with a port', NETWORKS, '10.1.2.3', '[2001:db8:ff::1]:443', '2001:db8:ff::1'],
  ['IPv6 with a zone', NETWORKS, '10.1.2.3', 'fe80::1%eth0', 'fe80::1'],
  ['an entry that is no address ends the way at the proxy that wrote it', NETWORKS, '10.1.2.3', `${CLIENT}, unknown`, '10.1.2.3'],
  ['and nothing before it counts', NETWORKS, '10.1.2.3', `${FORGED}, _hidden, 10.4.5.6`, '10.4.5.6'],
  ['another spelling of an address is none', NETWORKS, '10.1.2.3', '0313.0.0161.07', '10.1.2.3'],
  ['nor is a number', NETWORKS, '10.1.2.3', '3405803783', '10.1.2.3'],
  ['nor a name, a list in a list or a line end', NETWORKS, '10.1.2.3', 'localhost', '10.1.2.3'],
  ['one proxy', '1', '198.18.0.1', `${FORGED}, ${CLIENT}`, CLIENT],
  ['two proxies', '2', '198.18.0.1', `${FORGED}, ${CLIENT}, 198.18.0.2`, CLIENT],
  ['fewer entries than proxies', '3', '198.18.0.1', CLIENT, CLIENT],
  ['one proxy, which names nobody', '1', '198.18.0.1', undefined, '198.18.0.1'],
  ['the connection is gone', NETWORKS, undefined, CLIENT, null],
])('%s', (_what, trusted, peer, forwardedFor, address) => {
  expect(addressOf(trusted, peer, forwardedFor)).toBe(address);
});

test.each(['everybody', '10.0.0.0/33', '1, 10.0.0.0/8', '-1', '1.5', '17', '0.0.0.0/0', '::/0'])('TRUSTED_PROXIES=%s is refused', text => {
  expect(() => parseTrustedProxies(text)).toThrow(/./);
});
