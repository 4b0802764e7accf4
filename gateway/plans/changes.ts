/** How often a caller of this process may have seen that something changed: mutations and native paths raise it. */
export class Changes {
  count = 0;
}
