/** Says whether a webhook is sent events, and how the last attempt went. */
import type { AnswerOf } from "../../../api/client.ts"
import type { webhooksList } from "../../../api/calls.generated.ts"
import { State } from "../../../ui/State.tsx"
import { words } from "../../../words/system/webhooks.ts"

export type Webhook = AnswerOf<typeof webhooksList>["webhooks"][number]

/** Deliveries that fail one after another until a webhook is switched off. */
const mostFailures = 10

export const WebhookState = ({ webhook: { enabled, failure_count: failed } }: { readonly webhook: Webhook }) => {
  if (enabled === 1) return <State kind={failed > 0 ? "warning" : "good"}>{words.on}</State>
  return failed >= mostFailures ? <State kind="bad">{words.stopped}</State> : <State kind="quiet">{words.off}</State>
}

const lastGood = 299

export const AnswerState = ({ status }: { readonly status: number }) => {
  if (status === 0) return <State kind="bad">{words.noAnswer}</State>
  return <State kind={status >= 200 && status <= lastGood ? "good" : "bad"}>{status}</State>
}
