/**
 * What a receiver is sent: the body in the shape of its kind, and the headers with both signatures. Pure.
 *
 * - `X-Webhook-Signature`: HMAC-SHA256 of the body, keyed by the secret as it is written.
 * - `webhook-signature`: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, keyed by the bytes that
 *   the secret is the base64 of; not sent when it is not base64.
 */
import { createHmac } from "node:crypto"
import type { WebhookKind } from "../domain/Webhook.ts"

export interface Delivered {
  readonly id: string
  readonly event: string
  readonly atMs: number
  /** JSON text. */
  readonly data: string
}

const timestampOf = ({ atMs }: Delivered): string => new Date(atMs).toISOString()

/** Longest message that Discord takes: https://discord.com/developers/docs/resources/webhook#execute-webhook */
const maxMessageChars = 2_000
const maxValueChars = 200

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars)}…` : text
}

/** The event and its fields, a line each, without those that say nothing. */
const messageOf = ({ data, event }: Delivered): string => {
  const fields = Object.entries(JSON.parse(data) as Readonly<Record<string, unknown>>)
  const lines = fields.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${shown(value)}`]))
  return [event, ...lines].join("\n").slice(0, maxMessageChars)
}

/** Characters with a meaning in Slack's texts: https://api.slack.com/reference/surfaces/formatting#escaping */
const slackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

export const bodyOf = (kind: WebhookKind, delivered: Delivered): string => {
  switch (kind) {
    case "custom":
      // The data is JSON already.
      return `{"id":${JSON.stringify(delivered.id)},"event":${JSON.stringify(delivered.event)},"timestamp":"${timestampOf(delivered)}","data":${delivered.data}}`
    case "slack":
      return JSON.stringify({ text: slackText(messageOf(delivered)) })
    case "discord":
      // No name in the text may call people.
      return JSON.stringify({ content: messageOf(delivered), allowed_mentions: { parse: [] } })
  }
}

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
