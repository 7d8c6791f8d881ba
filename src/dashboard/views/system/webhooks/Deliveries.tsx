/** The last attempts of a webhook, newest first. */
import type { AnswerOf } from "../../../api/client.ts"
import { type webhooksDeliveries, webhooksRetry } from "../../../api/calls.generated.ts"
import { Time } from "../../../ui/Time.tsx"
import { count, duration, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/webhooks.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { AnswerState } from "./WebhookState.tsx"

type Attempt = AnswerOf<typeof webhooksDeliveries>["deliveries"][number]

interface Properties {
  readonly id: string
  readonly attempts: ReadonlyArray<Attempt>
}

const Retry = ({ attempt, id }: { readonly attempt: Attempt; readonly id: string }) => {
  const { isBusy, run } = useWork(["webhook-deliveries", "webhooks"])
  return (
    <button
      type="button"
      class="button"
      disabled={isBusy.value}
      onClick={() => void run(() => webhooksRetry({ path: { id, deliveryId: attempt.id } }), words.retried)}
    >
      {words.retry}
    </button>
  )
}

export const Deliveries = ({ attempts, id }: Properties) =>
  attempts.length === 0 ? (
    <p class="quiet">{words.noDeliveries}</p>
  ) : (
    <>
      <p role="status" class="quiet">
        {words.deliveriesFound(attempts.length)}
      </p>
      <Table label={words.deliveries} columns={words.deliveryColumns} numbers={[2, 4]}>
        {attempts.map((attempt) => (
          <tr key={attempt.id}>
            <td>
              <Time at={attempt.created_at} />
            </td>
            <td>
              {visible(attempt.event)}
              <br />
              <code class="quiet">{visible(attempt.event_id)}</code>
            </td>
            <td class="number">{count(attempt.attempt)}</td>
            <td>
              <AnswerState status={attempt.status} />
            </td>
            <td class="number">{duration(attempt.latency_ms)}</td>
            <td class="wide-cell">{attempt.error === null ? "–" : visible(attempt.error)}</td>
            <td>{attempt.mayRetry && <Retry id={id} attempt={attempt} />}</td>
          </tr>
        ))}
      </Table>
    </>
  )
