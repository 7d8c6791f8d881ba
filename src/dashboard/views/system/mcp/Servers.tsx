/** MCP servers of others, whose tools are offered here. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import {
  mcpServersCreate,
  mcpServersList,
  mcpServersRemove,
  mcpServersTest,
  mcpServersUpdate
} from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { type Kind, State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/mcp.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { Pages } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { FormEnd } from "../parts/FormEnd.tsx"
import { switchWith, useWork } from "../../../ui/useWork.ts"

type Server = AnswerOf<typeof mcpServersList>["servers"][number]

const pageRows = 100

const kinds: Readonly<Record<Server["status"], Kind>> = { off: "quiet", idle: "quiet", online: "good", down: "bad" }

const AddForm = ({ onClose }: { readonly onClose: () => void }) => {
  const name = useSignal("")
  const url = useSignal("")
  const work = useWork(["mcp"], true)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (await work.run(() => mcpServersCreate({ body: { name: name.value, url: url.value } }), words.added)) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <Entry name={words.name} value={name} hint={words.nameHint} isRequired />
      <Entry name={words.url} value={url} isRequired placeholder="https://mcp.example.com/mcp" />
      <p class="hint">
        {words.more} <a href={placeOf("system/mcpServersCreate")}>{words.wholeForm}</a>
      </p>
      <FormEnd work={work} verb={words.add} onClose={onClose} />
    </form>
  )
}

const ServerRow = ({ server }: { readonly server: Server }) => {
  const work = useWork(["mcp"])
  const { isBusy, run } = work
  const test = async (): Promise<void> => {
    const { error, ok, tools } = await mcpServersTest({ path: { id: server.id } })
    if (ok) toast("good", words.tested(tools.length))
    else toast("bad", visible(error ?? words.states.down))
  }
  const set = (enabled: boolean) => mcpServersUpdate({ path: { id: server.id }, body: { enabled } })
  const change = (): Promise<void> =>
    switchWith(work, server.enabled, set, {
      on: words.serverOn(visible(server.name)),
      off: words.serverOff(visible(server.name))
    })
  return (
    <tr>
      <td>
        <strong>{visible(server.name)}</strong>
        <br />
        <code class="quiet">{visible(server.url ?? server.command ?? "")}</code>
      </td>
      <td>
        <State kind={kinds[server.status]}>{words.states[server.status]}</State>
        {server.lastError !== null && <p class="problem">{visible(server.lastError)}</p>}
      </td>
      <td class="number">{server.toolCount === null ? "–" : count(server.toolCount)}</td>
      <td>{server.allowedKeys === null ? words.everyKey : words.keys(server.allowedKeys.length)}</td>
      <td>
        <span class="buttons">
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void run(test)}>
            {words.test}
          </button>
          <button type="button" class="button" disabled={isBusy.value} onClick={() => void change()}>
            {server.enabled ? words.switchOff : words.switchOn}
          </button>
          <a class="button plain" href={`${placeOf("system/mcpServersUpdate")}?id=${encodeURIComponent(server.id)}`}>
            {words.edit}
          </a>
          <DangerButton
            title={words.removeTitle(visible(server.name))}
            means={words.removeMeans}
            name={server.name}
            verb={words.remove}
            run={async () => {
              await mcpServersRemove({ path: { id: server.id } })
              void refresh("mcp")
            }}
          />
        </span>
      </td>
    </tr>
  )
}

export const Servers = ({ cursor }: { readonly cursor: string }) => {
  const isAdding = useSignal(false)
  const list = useAnswer({
    key: ["mcp", "servers", cursor],
    ask: (signal) => mcpServersList({ query: { limit: pageRows, cursor }, signal })
  })
  return (
    <section class="stack" aria-label={words.partNames.servers}>
      <div class="buttons">
        <button type="button" class="button" onClick={setting(isAdding, true)}>
          <Icon name="add" /> {words.add}
        </button>
      </div>
      <Answered of={list} height={160}>
        {({ nextCursor, servers }) =>
          servers.length === 0 ? (
            <Empty text={words.noServers} />
          ) : (
            <>
              <Table label={words.partNames.servers} columns={words.serverColumns} numbers={[2]}>
                {servers.map((server) => (
                  <ServerRow key={server.id} server={server} />
                ))}
              </Table>
              <Pages name="cursor" before={cursor === "" ? null : ""} next={nextCursor} />
            </>
          )
        }
      </Answered>
      <Dialog title={words.add} {...opening(isAdding)}>
        <AddForm onClose={setting(isAdding, false)} />
      </Dialog>
    </section>
  )
}
