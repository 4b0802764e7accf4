/** The network that an address key (see `addressKey`) belongs to: an IPv4 /24 or an IPv6 /48, in CIDR form; null for anything else. */
export function networkOf(address: string): string | null {
  const octets = address.split('.');
  if (octets.length === 4) return `${octets.slice(0, 3).join('.')}.0/24`;
  const groups = address.split(':');
  return groups.length === 4 ? `${groups.slice(0, 3).join(':')}::/48` : null;
}
