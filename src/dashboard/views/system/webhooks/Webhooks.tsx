/** Shows the webhooks and the state of their deliveries; one webhook with its deliveries is behind its id. */
import { useSignal } from "@preact/signals"
import { useRoute } from "preact-iso"
import { webhooksList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { opening } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/webhooks.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { Create } from "./Create.tsx"
import { WebhookPage } from "./WebhookPage.tsx"
import { AnswerState, type Webhook, WebhookState } from "./WebhookState.tsx"

const Row = ({ webhook }: { readonly webhook: Webhook }) => (
  <tr>
    <td class="wide-cell">
      <a href={placeOf(`system/webhooks/${webhook.id}`)}>{visible(webhook.description ?? webhook.url)}</a>
      <br />
      <span class="quiet">
        {words.kinds[webhook.kind]} · {visible(webhook.url)}
      </span>
    </td>
    <td>{webhook.events.includes("*") ? words.every : visible(webhook.events.join(", "))}</td>
    <td>
      <WebhookState webhook={webhook} />
    </td>
    <td>
      {webhook.last_triggered_at === null ? (
        <span class="quiet">{words.never}</span>
      ) : (
        <>
          <AnswerState status={webhook.last_status ?? 0} /> <Time at={webhook.last_triggered_at} />
        </>
      )}
    </td>
    <td class="number">{count(webhook.failure_count)}</td>
  </tr>
)

const All = () => {
  const list = useAnswer({ key: ["webhooks"], ask: (signal) => webhooksList({ signal }) })
  const isCreating = useSignal(false)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isCreating} label={words.create} />
      </Head>
      <Answered of={list} height={200}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <div class="card">
              <Table label={words.list} columns={words.columns} numbers={[4]}>
                {webhooks.map((webhook) => (
                  <Row key={webhook.id} webhook={webhook} />
                ))}
              </Table>
            </div>
          )
        }
      </Answered>
      <Create {...opening(isCreating)} />
    </div>
  )
}

export const Webhooks = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <WebhookPage key={part} id={part} />
}
