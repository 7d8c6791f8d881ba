/** The connections as a table: the state of each in a word, what is left of it, and what can be done. */
import { useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import type { AnswerOf } from "../../api/client.ts"
import { providersTest, providersUpdate, type providersList, type usageQuotas } from "../../api/calls.generated.ts"
import { refresh } from "../../api/queries.ts"
import { State } from "../../ui/State.tsx"
import { ago, clockTime, duration, nowMs, percent, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/places.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/providers.ts"

type Connection = AnswerOf<typeof providersList>["connections"][number]
type QuotaWindow = AnswerOf<typeof usageQuotas>["windows"][number]

const nameOf = ({ name, provider }: Connection): string => visible(name === "" ? provider : `${provider} / ${name}`)

const ConnectionState = ({
  connection: { isActive, lastError, rateLimitedUntil, testStatus }
}: {
  readonly connection: Connection
}) => {
  if (!isActive) return <State kind="quiet">{words.states.off}</State>
  if (rateLimitedUntil !== null && Date.parse(rateLimitedUntil) > nowMs()) {
    return (
      <State kind="warning" icon="wait">
        {words.states.resting(clockTime(rateLimitedUntil))}
      </State>
    )
  }
  if (testStatus === "active") return <State kind="good">{words.states.active}</State>
  if (testStatus === "unknown") return <State kind="quiet">{words.states.unknown}</State>
  return (
    <span title={visible(lastError ?? "")}>
      <State kind="bad">{words.states.failed(testStatus)}</State>
    </span>
  )
}

/** The window of an account that ends first, or has the least left. */
const tightest = (windows: ReadonlyArray<QuotaWindow>): QuotaWindow | undefined =>
  windows.toSorted((one, other) => (one.remainingPercentage ?? 100) - (other.remainingPercentage ?? 100))[0]

const Left = ({ windows }: { readonly windows: ReadonlyArray<QuotaWindow> }) => {
  const window = tightest(windows)
  if (window === undefined || window.total === null) return <span class="quiet">–</span>
  return (
    <span>
      <meter min={0} max={window.total} value={Math.min(window.used, window.total)} aria-label={window.window} />{" "}
      {words.used(percent(window.total === 0 ? 1 : window.used / window.total))}
      {window.exhaustedAt !== null && <span class="quiet"> {words.endsAt(ago(window.exhaustedAt))}</span>}
    </span>
  )
}

const Actions = ({ connection }: { readonly connection: Connection }) => {
  const isBusy = useSignal(false)
  const does = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true
    try {
      await work()
    } catch (error) {
      toast("bad", (error as ApiError).message)
    } finally {
      isBusy.value = false
      void refresh("connections")
    }
  }
  const test = async (): Promise<void> => {
    const { error, latencyMs, ok } = await providersTest({ path: { id: connection.id } })
    if (ok) toast("good", words.tested(nameOf(connection), duration(latencyMs)))
    else toast("bad", `${nameOf(connection)}: ${visible(error ?? "")}`)
  }
  const turn = async (): Promise<void> => {
    await providersUpdate({ path: { id: connection.id }, body: { isActive: !connection.isActive } })
  }
  const isOurs = connection.source === "db"
  return (
    <span class="buttons">
      <button type="button" class="button" disabled={isBusy.value} onClick={() => void does(test)}>
        {isBusy.value ? words.testing : words.test}
      </button>
      {isOurs ? (
        <>
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void does(turn)}>
            {connection.isActive ? words.turnOff : words.turnOn}
          </button>
          <a class="button plain" href={`${placeOf("system/providersUpdate")}?id=${connection.id}`}>
            {words.edit}
          </a>
        </>
      ) : (
        <span class="quiet">{words.fromEnvironment}</span>
      )}
    </span>
  )
}

interface Properties {
  readonly connections: ReadonlyArray<Connection>
  readonly windows: ReadonlyArray<QuotaWindow>
}

export const Connections = ({ connections, windows }: Properties) => (
  <div class="scroller card" tabIndex={0} role="region" aria-label={words.list}>
    <table class="plain-table">
      <thead>
        <tr>
          <th>{words.columns.provider}</th>
          <th>{words.columns.state}</th>
          <th>{words.columns.models}</th>
          <th>{words.columns.left}</th>
          <th>{words.columns.actions}</th>
        </tr>
      </thead>
      <tbody>
        {connections.map((connection) => (
          <tr key={connection.id}>
            <td>{nameOf(connection)}</td>
            <td>
              <ConnectionState connection={connection} />
            </td>
            <td>{words.models(connection.modelList?.count ?? connection.models.length)}</td>
            <td>
              <Left windows={windows.filter(({ connectionId }) => connectionId === connection.id)} />
            </td>
            <td>
              <Actions connection={connection} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
