/** Adds a proxy; it can be tested before it is saved. */
import { useSignal } from "@preact/signals"
import { type proxiesTest, proxiesCreate, proxiesTest as testProxy } from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { State } from "../../../ui/State.tsx"
import { duration, visible } from "../../../ui/format.ts"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/system/proxies.ts"
import { Entry, Pick } from "../../../ui/parts/Entry.tsx"
import { useWork } from "../../../ui/useWork.ts"

const types = ["http", "https", "socks5"] as const
const families = ["auto", "ipv4", "ipv6"] as const

const Form = ({ onClose }: { readonly onClose: () => void }) => {
  const name = useSignal("")
  const type = useSignal("socks5")
  const host = useSignal("")
  const port = useSignal("1080")
  const username = useSignal("")
  const password = useSignal("")
  const family = useSignal("auto")
  const tested = useSignal<AnswerOf<typeof proxiesTest> | null>(null)
  const { isBusy, problem, run } = useWork(["proxies"], true)
  const proxy = () => ({
    name: name.value,
    type: types.find((each) => each === type.value) ?? "http",
    host: host.value,
    port: Number(port.value),
    family: families.find((each) => each === family.value) ?? "auto",
    ...(username.value === "" ? {} : { username: username.value }),
    ...(password.value === "" ? {} : { password: password.value })
  })
  const test = async (): Promise<void> => {
    tested.value = null
    tested.value = await testProxy({ body: { proxy: proxy() } })
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (await run(() => proxiesCreate({ body: proxy() }), words.added)) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <Entry name={words.name} value={name} isRequired />
      <div class="parameters">
        <Pick name={words.type} value={type} choices={types.map((each) => [each, each])} />
        <Pick name={words.family} value={family} choices={families.map((each) => [each, words.families[each]])} />
      </div>
      <div class="parameters">
        <Entry name={words.host} value={host} isRequired placeholder="proxy.example.com" />
        <Entry name={words.port} type="number" value={port} isRequired />
      </div>
      <div class="parameters">
        <Entry name={words.username} value={username} />
        <Entry name={words.password} type="password" value={password} hint={words.passwordHint} />
      </div>
      {problem.value !== null && <Failure error={problem.value} />}
      {tested.value !== null &&
        (tested.value.ok ? (
          <State kind="good">
            {words.tested(duration(tested.value.latencyMs), visible(tested.value.egressIp ?? words.unknownAddress))}
          </State>
        ) : (
          <p class="problem" role="alert">
            {visible(tested.value.error ?? words.fails)}
          </p>
        ))}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {words.add}
        </button>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(test)}>
          {words.test}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
      </div>
    </form>
  )
}

export const AddProxy = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Dialog title={words.add} isOpen={isOpen} onClose={onClose}>
    <Form onClose={onClose} />
  </Dialog>
)
