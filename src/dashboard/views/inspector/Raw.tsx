/** Bodies and headers as they were sent, as far as they are kept. */
import { checking } from "../../ui/handlers.ts"
import { useSignal } from "@preact/signals"
import type { JSX } from "preact"
import { LongText } from "../../ui/editor/LongText.tsx"
import { State } from "../../ui/State.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import type { WholeRecord } from "./record.ts"

/** Longer ones are not put in order: that would hold up the page. */
const mostFormatted = 1_000_000

const formatted = (text: string): string => {
  if (text.length > mostFormatted) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

interface BodyProperties {
  readonly title: string
  readonly text: string | null
  readonly isTruncated: boolean
  readonly isBase64: boolean
}

const Body = ({ isBase64, isTruncated, text, title }: BodyProperties) => {
  const isFormatted = useSignal(true)
  return (
    <section class="stack" aria-label={title}>
      <p class="buttons">
        <strong>{title}</strong>
        {isTruncated && <State kind="warning">{words.raw.truncated}</State>}
        {isBase64 && <span class="quiet">{words.raw.base64}</span>}
        {text !== null && text !== "" && !isBase64 && (
          <button
            type="button"
            class="button plain"
            aria-pressed={!isFormatted.value}
            onClick={() => {
              isFormatted.value = !isFormatted.value
            }}
          >
            {words.raw.asSent}
          </button>
        )}
      </p>
      {text === null || text === "" ? (
        <p class="quiet">{words.raw.nothing}</p>
      ) : (
        <LongText text={isFormatted.value && !isBase64 ? formatted(text) : text} label={title} isCode />
      )}
    </section>
  )
}

export const Raw = ({ record }: { readonly record: WholeRecord }) => (
  <div class="stack">
    <p class="mono">
      {record.method} {visible(`${record.scheme}://${record.host}${record.path}`)} {record.httpVersion ?? ""}
    </p>
    {record.bodyEvicted && <State kind="warning">{words.raw.evicted}</State>}
    <Body
      title={words.raw.request}
      text={record.requestBody}
      isTruncated={record.requestTruncated}
      isBase64={record.requestEncoding === "base64"}
    />
    <Body
      title={words.raw.response}
      text={record.responseBody}
      isTruncated={record.responseTruncated}
      isBase64={record.responseEncoding === "base64"}
    />
  </div>
)

const Table = ({ headers, title }: { readonly title: string; readonly headers: WholeRecord["requestHeaders"] }) => {
  const rows = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => [name, one] as const)
  )
  if (rows.length === 0) return <p class="quiet">{words.headers.none}</p>
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label={title}>
      <table class="plain-table headers">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th>{words.headers.name}</th>
            <th>{words.headers.value}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value], index) => (
            <tr key={index}>
              <td class="mono">{visible(name)}</td>
              <td class="mono">{visible(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface HeadersProperties {
  /** Draws the record, with secrets where they are asked for. */
  readonly of: (showSecrets: boolean, draw: (record: WholeRecord) => JSX.Element) => JSX.Element
}

export const Headers = ({ of }: HeadersProperties) => {
  const showSecrets = useSignal(false)
  return (
    <div class="stack">
      <label class="choice">
        <input type="checkbox" checked={showSecrets.value} onChange={checking(showSecrets)} />
        {words.showSecrets} <span class="quiet">{words.secretsNote}</span>
      </label>
      {of(showSecrets.value, (record) => (
        <>
          <Table title={words.raw.request} headers={record.requestHeaders} />
          <Table title={words.raw.response} headers={record.responseHeaders} />
        </>
      ))}
    </div>
  )
}
