/** Answers whether several gateways have the same configuration, and where prices come from. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { syncAct, syncStatus } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/sync.ts"
import { words as shared } from "../../../words/parts.ts"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Head } from "../parts/Head.tsx"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { PriceSync } from "./PriceSync.tsx"

type Status = AnswerOf<typeof syncStatus>

const Connected = ({ status: { connected, enabled } }: { readonly status: Status }) => {
  if (!enabled) return <State kind="quiet">{shared.off}</State>
  if (connected === null) return <State kind="quiet">{words.notTried}</State>
  return connected ? <State kind="good">{words.connected}</State> : <State kind="bad">{words.failed}</State>
}

const SyncState = ({ status }: { readonly status: Status }) => (
  <section class="card stack" aria-label={words.cloud}>
    <div class="card-head">
      <h3>{words.cloud}</h3>
      <Connected status={status} />
    </div>
    <Facts
      rows={[
        [words.server, status.cloudUrl === null ? words.none : <code>{visible(status.cloudUrl)}</code>],
        [words.key, status.sharedKey === null ? words.none : <code>{visible(status.sharedKey)}</code>],
        [words.last, status.lastSyncAt === null ? words.never : <Time at={status.lastSyncAt} />],
        [words.version, count(status.version)]
      ]}
    />
    {status.lastError !== null && (
      <p class="problem" role="alert">
        {visible(status.lastError)}
      </p>
    )}
  </section>
)

const SwitchOn = () => {
  const cloudUrl = useSignal("")
  const sharedKey = useSignal("")
  const { isBusy, problem, run } = useWork(["sync"], true)
  const submit = (event: Event): void => {
    event.preventDefault()
    const enable = async (): Promise<void> => {
      await syncAct({
        body: {
          action: "enable",
          ...(cloudUrl.value === "" ? {} : { cloudUrl: cloudUrl.value }),
          ...(sharedKey.value === "" ? {} : { sharedKey: sharedKey.value })
        }
      })
      sharedKey.value = ""
    }
    void run(enable, words.done)
  }
  return (
    <form class="card stack" noValidate onSubmit={submit}>
      <h3>{words.switchOnTitle}</h3>
      <p class="quiet">{words.empty}</p>
      <Entry name={words.server} value={cloudUrl} placeholder="https://sync.example.com/team" hint={words.serverHint} />
      <Entry name={words.key} type="password" value={sharedKey} hint={words.keyHint} />
      {problem.value !== null && <Failure error={problem.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {isBusy.value ? shared.wait : words.switchOn}
        </button>
      </div>
    </form>
  )
}

export const Sync = () => {
  const status = useAnswer({ key: ["sync"], ask: (signal) => syncStatus({ signal }) })
  const { isBusy, run } = useWork(["sync"])
  const isOn = status.value.data?.enabled === true
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        {isOn && (
          <>
            <button
              type="button"
              class="button main-action"
              disabled={isBusy.value}
              onClick={() => void run(() => syncAct({ body: { action: "sync" } }), words.done)}
            >
              {isBusy.value ? shared.wait : words.now}
            </button>
            <DangerButton
              title={words.switchOff}
              means={words.switchOffMeans}
              name="sync"
              verb={words.switchOff}
              run={async () => {
                await syncAct({ body: { action: "disable" } })
                void refresh("sync")
              }}
            />
          </>
        )}
      </Head>
      <CopyAs call={syncAct} body={{ action: "sync" }} />
      <Answered of={status} height={200}>
        {(answer) => (
          <>
            <SyncState status={answer} />
            {!answer.enabled && <SwitchOn />}
          </>
        )}
      </Answered>
      <PriceSync />
    </div>
  )
}
