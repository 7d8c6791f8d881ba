/** Agents of the Agent Client Protocol on the gateway's machine. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { acpChange, acpList, acpRemove } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/agents.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { FormEnd } from "../parts/FormEnd.tsx"
import { useWork } from "../../../ui/useWork.ts"

type Agent = AnswerOf<typeof acpList>["agents"][number]

const AddForm = ({ onClose }: { readonly onClose: () => void }) => {
  const id = useSignal("")
  const name = useSignal("")
  const binary = useSignal("")
  const work = useWork(["acp"], true)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const add = () =>
      acpChange({
        body: {
          action: "add",
          id: id.value,
          binary: binary.value,
          ...(name.value === "" ? {} : { name: name.value })
        }
      })
    if (await work.run(add, words.added)) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <p class="quiet">{words.localOnly}</p>
      <Entry name={words.id} value={id} isRequired hint={words.idHint} />
      <Entry name={words.name} value={name} />
      <Entry name={words.program} value={binary} isRequired hint={words.programHint} />
      <FormEnd work={work} verb={words.add} onClose={onClose} />
    </form>
  )
}

const Rows = ({ agents, onRemove }: { agents: ReadonlyArray<Agent>; onRemove: (agent: Agent) => void }) => (
  <Table label={words.acp} columns={words.columns}>
    {agents.map((agent) => (
      <tr key={agent.id}>
        <td>
          {visible(agent.name)} <code class="quiet">{visible(agent.id)}</code>
        </td>
        <td>
          <code>{visible(agent.binary)}</code>
        </td>
        <td>
          {agent.installed ? (
            <State kind="good">
              {words.installed} {visible(agent.version ?? "")}
            </State>
          ) : (
            <State kind="quiet">{words.notFound}</State>
          )}
        </td>
        <td>{agent.protocol}</td>
        <td>
          {agent.isCustom ? (
            <button type="button" class="button danger" onClick={() => onRemove(agent)}>
              {words.remove}
            </button>
          ) : (
            <span class="quiet">{words.builtIn}</span>
          )}
        </td>
      </tr>
    ))}
  </Table>
)

export const AcpAgents = () => {
  const isAdding = useSignal(false)
  const removing = useSignal<Agent | null>(null)
  const list = useAnswer({ key: ["acp"], ask: (signal) => acpList({ signal }) })
  const { isBusy, run } = useWork(["acp"])
  const close = (): void => {
    isAdding.value = false
  }
  return (
    <section class="stack" aria-label={words.acp}>
      <header class="area-head">
        <div>
          <h2>{words.acp}</h2>
          <p class="quiet">{words.acpHint}</p>
        </div>
        <div class="buttons">
          <button
            type="button"
            class="button"
            disabled={isBusy.value}
            onClick={() => void run(() => acpChange({ body: { action: "refresh" } }), words.looked)}
          >
            {words.look}
          </button>
          <button type="button" class="button" onClick={setting(isAdding, true)}>
            <Icon name="add" /> {words.add}
          </button>
        </div>
      </header>
      <CopyAs call={acpList} />
      <Answered of={list} height={320}>
        {({ agents, summary }) =>
          agents.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <>
              <p class="quiet">{words.summary(summary.installed, summary.total)}</p>
              <Rows
                agents={agents.toSorted((one, other) => Number(other.installed) - Number(one.installed))}
                onRemove={(agent) => {
                  removing.value = agent
                }}
              />
            </>
          )
        }
      </Answered>
      <Dialog title={words.add} isOpen={isAdding.value} onClose={close}>
        <AddForm onClose={close} />
      </Dialog>
      <Danger
        title={words.removeTitle}
        means={words.removeMeans}
        name={removing.value?.id ?? ""}
        verb={words.remove}
        isOpen={removing.value !== null}
        onClose={setting(removing, null)}
        run={async () => {
          await acpRemove({ query: { id: removing.value?.id ?? "" } })
          void refresh("acp")
        }}
      />
    </section>
  )
}
