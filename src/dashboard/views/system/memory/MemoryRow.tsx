/** One memory: what is remembered, of whom, and since when it was not used. */
import type { AnswerOf } from "../../../api/client.ts"
import { memoryCreate, type memoryList, memoryRemove } from "../../../api/calls.generated.ts"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/memory.ts"
import { words as parts } from "../../../words/parts.ts"
import { useWork } from "../../../ui/useWork.ts"

type Entry = AnswerOf<typeof memoryList>["memories"][number]

interface Properties {
  readonly memory: Entry
  readonly keys: ReadonlyMap<string, string>
}

const ownerOf = ({ apiKeyId }: Entry, keys: ReadonlyMap<string, string>): string =>
  apiKeyId === null ? words.noKey : (keys.get(apiKeyId) ?? words.goneKey)

/** A memory as it is added anew: with the same key, type and words. */
const again = ({ apiKeyId, content, key, sessionId, type }: Entry) =>
  memoryCreate({
    body: {
      type,
      key,
      content,
      ...(apiKeyId === null ? {} : { apiKeyId }),
      ...(sessionId === null ? {} : { sessionId })
    }
  })

export const MemoryRow = ({ keys, memory }: Properties) => {
  const { isBusy, run } = useWork(["memories", "memory-health"])
  const forget = (): void =>
    void run(async () => {
      await memoryRemove({ path: { id: memory.id } })
      toast("good", words.forgotten, {
        label: parts.undo,
        run: () => void run(() => again(memory), words.remembered)
      })
    })
  return (
    <tr>
      <td class="wide-cell">
        {visible(memory.content)}
        <br />
        <code class="quiet">{visible(memory.key)}</code>
      </td>
      <td>
        {memory.type}
        <br />
        <span class="quiet">{words.sources[memory.source]}</span>
      </td>
      <td>{visible(ownerOf(memory, keys))}</td>
      <td>
        <Time at={memory.lastUsedAt} />
      </td>
      <td>
        <button type="button" class="button danger" disabled={isBusy.value} onClick={forget}>
          {words.forget}
        </button>
      </td>
    </tr>
  )
}
