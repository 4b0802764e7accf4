import { Webhook } from 'standardwebhooks';
import { fail } from '../../../runtime/request/errors.js';
import { type AuthEmail, readAuthEmail } from '../rules/auth-email.js';

/** An outside identity provider that asks for its e-mails to be sent. Each vendor maps its headers and its body. */
export interface AuthEmailSource {
  /** Prefix that the vendor puts before the secret. */
  secretPrefix: string;
  /** The vendor's body in neutral form; what is wrong with it is found later. */
  neutral(body: Record<string, unknown>): unknown;
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const neutralBody: AuthEmailSource = { secretPrefix: '', neutral: body => body };

const TYPES: Readonly<Record<string, string>> = { magiclink: 'magic_link', email: 'otp' };

/**
 * The send-email hook of Supabase Auth: `v1,whsec_…` as secret, `{user, email_data}` as body. Of a change of address the message to the
 * new one is meant; `token_hash` belongs to it, and so does `token_new` where the old address is asked, too.
 */
const sendEmailHook: AuthEmailSource = {
  secretPrefix: 'v1,',
  neutral(body) {
    const [user, email] = [asObject(body.user), asObject(body.email_data)];
    const action = String(email.email_action_type ?? '');
    const changes = action === 'email_change';
    return {
      type: TYPES[action] ?? action,
      user: { id: user.id, email: (changes && user.new_email) || user.email },
      token: (changes && email.token_new) || email.token,
      token_hash: email.token_hash,
      redirect_to: email.redirect_to || undefined,
      locale: asObject(user.user_metadata).locale,
    };
  },
};

export const AUTH_EMAIL_SOURCES: Readonly<Record<string, AuthEmailSource>> = { neutral: neutralBody, send_email_hook: sendEmailHook };

export interface SignedBody {
  headers: Readonly<Record<string, string>>;
  /** As received; it is read only after its signature fits. */
  raw: Buffer;
}

function verify(secret: string, { raw, headers }: SignedBody): unknown {
  try {
    return new Webhook(secret).verify(raw, headers, { jsonParse: false });
  } catch {
    fail('unauthenticated', 'The signature does not fit');
  }
}

function parse(raw: Buffer): Record<string, unknown> {
  try {
    return asObject(JSON.parse(raw.toString('utf8')));
  } catch {
    fail('invalid_request', 'The body is not valid JSON');
  }
}

/**
 * What the provider asks for, in neutral form. The signature is judged by `Date.now`, ±300 s, in constant time.
 * @throws Problem unauthenticated for a wrong signature, invalid_request with every violation. Source: identity 4.8.
 */
export function readSigned(source: AuthEmailSource, secret: string | undefined, signed: SignedBody): AuthEmail {
  if (!secret) fail('unauthenticated', 'No provider is connected');
  verify(secret.startsWith(source.secretPrefix) ? secret.slice(source.secretPrefix.length) : secret, signed);
  const email = readAuthEmail(source.neutral(parse(signed.raw)));
  if (Array.isArray(email)) fail('invalid_request', 'The body is invalid', { errors: email });
  return email;
}
