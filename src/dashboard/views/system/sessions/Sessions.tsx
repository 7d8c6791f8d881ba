/** Shows the sessions, and the addresses that have to wait before the next login. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../../api/client.ts"
import { authEndSession, authEndSessions, authListSessions } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { opening, setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/sessions.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { Locks } from "./Locks.tsx"

type Session = AnswerOf<typeof authListSessions>["sessions"][number]

/** Agents call themselves at length: the browser and the system are near the beginning. */
const agentChars = 90

const agentOf = (text: string): string => {
  if (text === "") return words.unknownAgent
  return visible(text.length > agentChars ? `${text.slice(0, agentChars)}…` : text)
}

const SessionRow = ({ session }: { readonly session: Session }) => {
  const { isBusy, run } = useWork(["sessions"])
  return (
    <tr>
      <td>
        <code>{visible(session.id)}</code>
        {session.current && (
          <>
            {" "}
            <State kind="good">{words.own}</State>
          </>
        )}
      </td>
      <td>{words.via[session.via]}</td>
      <td>{session.address === "" ? words.unknownAddress : <code>{visible(session.address)}</code>}</td>
      <td class="wide-cell">{agentOf(session.userAgent)}</td>
      <td>
        <Time at={session.lastSeenAt} />
      </td>
      <td>
        <Time at={session.expiresAt} />
      </td>
      <td>
        {!session.current && (
          <button
            type="button"
            class="button"
            disabled={isBusy.value}
            onClick={() => void run(() => authEndSession({ path: { id: session.id } }), words.ended(1))}
          >
            {words.end}
          </button>
        )}
      </td>
    </tr>
  )
}

export const Sessions = () => {
  const list = useAnswer({ key: ["sessions"], ask: (signal) => authListSessions({ signal }) })
  const isAsked = useSignal(false)
  const others = list.value.data?.sessions.filter(({ current }) => !current).length ?? 0
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button type="button" class="button danger" disabled={others === 0} onClick={setting(isAsked, true)}>
          {words.endOthers}
        </button>
      </Head>
      <CopyAs call={authListSessions} />
      <Answered of={list} height={160}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <>
              <Table label={words.list} columns={words.columns}>
                {sessions.map((session) => (
                  <SessionRow key={session.id} session={session} />
                ))}
              </Table>
              {others === 0 && <p class="quiet">{words.alone}</p>}
            </>
          )
        }
      </Answered>
      <Locks />
      <Danger
        title={words.endOthers}
        means={words.endOthersMeans(others)}
        name={words.othersName}
        verb={words.endOthers}
        {...opening(isAsked)}
        run={async () => {
          const { ended } = await authEndSessions()
          toast("good", words.ended(ended))
          void refresh("sessions")
        }}
      />
    </div>
  )
}
