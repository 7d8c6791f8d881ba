/** Headers of a captured request, and the fields that a translation left out: asked for when it is opened, with a link to all of it. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { inspectorGet } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/requests.ts"

type Headers = AnswerOf<typeof inspectorGet>["requestHeaders"]

const mostShown = 100

const valuesOf = (headers: Headers): ReadonlyArray<readonly [name: string, value: string]> =>
  Object.entries(headers)
    .flatMap(([name, value]) => (typeof value === "string" ? [value] : value).map((one) => [name, one] as const))
    .slice(0, mostShown)

const Table = ({ headers, title }: { readonly title: string; readonly headers: Headers }) => (
  <div class="scroller" tabIndex={0} role="region" aria-label={title}>
    <table class="plain-table headers">
      <caption>{title}</caption>
      <tbody>
        {valuesOf(headers).map(([name, value], index) => (
          <tr key={index}>
            <th scope="row" class="mono">
              {visible(name)}
            </th>
            <td class="mono">{visible(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const droppedOf = (headers: Headers): string =>
  valuesOf(headers)
    .filter(([name]) => name.toLowerCase() === "x-gateway-dropped")
    .map(([, value]) => value)
    .join(", ")

const Record = ({ id }: { readonly id: string }) => {
  const record = useAnswer({ key: ["captured", id], ask: (signal) => inspectorGet({ path: { id }, signal }) })
  return (
    <Answered of={record} height={160}>
      {({ requestHeaders, responseHeaders }) => {
        const dropped = droppedOf(responseHeaders)
        return (
          <div class="stack">
            <p>{dropped === "" ? words.captured.nothingDropped : words.captured.dropped(visible(dropped))}</p>
            <Table title={words.captured.request} headers={requestHeaders} />
            <Table title={words.captured.response} headers={responseHeaders} />
          </div>
        )
      }}
    </Answered>
  )
}

export const Captured = ({ captureId }: { readonly captureId: string | null }) => {
  const isOpen = useSignal(false)
  if (captureId === null) return <p class="quiet">{words.captured.none}</p>
  return (
    <>
      <details
        onToggle={(event) => {
          isOpen.value = event.currentTarget.open
        }}
      >
        <summary>{words.captured.title}</summary>
        {isOpen.value && <Record id={captureId} />}
      </details>
      <a href={`${placeOf("inspector")}?id=${encodeURIComponent(captureId)}`}>{words.captured.whole}</a>
    </>
  )
}
