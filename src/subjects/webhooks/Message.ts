/**
 * Builds the message to a receiver of the kind `custom`: the event, and the headers with both signatures. Pure.
 *
 * - `X-Webhook-Signature`: HMAC-SHA256 of the body, keyed by the secret as it is written.
 * - `webhook-signature`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, keyed by the bytes that
 *   the secret is the base64 of; not sent when it is not base64.
 */
import { createHmac } from "node:crypto"

export interface Delivered {
  readonly id: string
  readonly event: string
  readonly atMs: number
  /** JSON text. */
  readonly data: string
}

const timestampOf = ({ atMs }: Delivered): string => new Date(atMs).toISOString()

/** The event as JSON. */
export const eventBody = (delivered: Delivered): string =>
  // The data is JSON already.
  `{"id":${JSON.stringify(delivered.id)},"event":${JSON.stringify(delivered.event)},"timestamp":"${timestampOf(delivered)}","data":${delivered.data}}`

const prefix = "whsec_"

/** The key of the standard signature; null when the secret is not base64. */
export const standardKey = (secret: string): Buffer | null => {
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  const isBase64 = text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
  return isBase64 ? Buffer.from(text, "base64") : null
}

export const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`

/** `sentMs` is the time of the attempt: receivers refuse what is older than minutes. */
export const headersOf = (
  secret: string,
  delivered: Delivered,
  body: string,
  sentMs: number
): ReadonlyArray<string> => {
  const headers = [
    ["content-type", "application/json"],
    ["accept-encoding", "identity"],
    ["user-agent", "Gateway-Webhook/1.0"],
    ["x-webhook-event", delivered.event],
    ["x-webhook-timestamp", timestampOf(delivered)],
    ["x-webhook-signature", signatureOf(secret, body)]
  ]
  const key = standardKey(secret)
  if (key !== null) {
    const seconds = Math.floor(sentMs / 1_000)
    const signature = createHmac("sha256", key).update(`${delivered.id}.${seconds}.${body}`).digest("base64")
    headers.push(
      ["webhook-id", delivered.id],
      ["webhook-timestamp", `${seconds}`],
      ["webhook-signature", `v1,${signature}`]
    )
  }
  return headers.flat()
}
