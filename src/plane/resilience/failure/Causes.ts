/** Failures of the call itself: their kind and the status each counts as (502 or 504 where the upstream is at fault). */
import type { FailureKind } from "./FailureKind.ts"
import type { FailureCause } from "./Signal.ts"

export const causes: Readonly<Record<FailureCause, { readonly kind: FailureKind; readonly status: number }>> = {
  refused: { kind: "network", status: 502 },
  dns: { kind: "network", status: 502 },
  tls: { kind: "network", status: 502 },
  reset: { kind: "network", status: 502 },
  other: { kind: "network", status: 502 },
  connect_timeout: { kind: "connect_timeout", status: 504 },
  first_byte_timeout: { kind: "first_byte_timeout", status: 504 },
  idle_timeout: { kind: "idle_timeout", status: 504 },
  total_timeout: { kind: "total_timeout", status: 504 },
  truncated: { kind: "truncated", status: 502 },
  truncated_stream: { kind: "truncated", status: 502 },
  // Text without a finish reason is an incomplete answer. The body ended in good order, so this is how the server always answers rather
  // than a failure of it: other targets go first, and the only target is not excluded.
  incomplete_answer: { kind: "unfinished", status: 502 },
  protocol: { kind: "malformed", status: 502 },
  not_json: { kind: "malformed", status: 502 },
  bad_answer: { kind: "malformed", status: 502 },
  empty_answer: { kind: "empty_answer", status: 502 },
  blocked: { kind: "gateway_refusal", status: 502 },
  answer_too_large: { kind: "gateway_refusal", status: 502 },
  no_slot: { kind: "gateway_refusal", status: 503 },
  // Nothing was sent, because the access token of the account is over.
  token_refresh_failed: { kind: "token_refresh_failed", status: 503 },
  token_expired: { kind: "token_refresh_failed", status: 401 },
  login_expired: { kind: "auth_expired", status: 401 },
  // The connection to the upstream failed, not the upstream and not its account.
  PROXY_UNAVAILABLE: { kind: "gateway_refusal", status: 503 },
  PROXY_FAMILY_UNAVAILABLE: { kind: "gateway_refusal", status: 503 },
  tokens_not_decoded: { kind: "gateway_refusal", status: 503 },
  // The request's own links; an upstream that follows links itself may still answer.
  media_not_fetched: { kind: "bad_request", status: 400 },
  too_many_links: { kind: "bad_request", status: 400 },
  client_left: { kind: "cancelled", status: 499 },
  server_shutting_down: { kind: "cancelled", status: 503 }
}
