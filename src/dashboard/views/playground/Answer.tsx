/** Draws what a model has answered: a text as Markdown, or what its endpoint gives. Bytes are shown from memory; what lies elsewhere is named. */
import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { download } from "../../ui/download.ts"
import { LongText } from "../../ui/editor/LongText.tsx"
import { Markdown } from "../../ui/markdown/Markdown.tsx"
import { linkOf } from "../../ui/markdown/inline.ts"
import { State } from "../../ui/State.tsx"
import { count, percent, visible } from "../../ui/format.ts"
import { words } from "../../words/playground.ts"
import { type Draft, linesOf } from "./draft.ts"
import type { Medium, Outcome } from "./outcome.ts"
import type { Run } from "./estimates.ts"

/** Longer answers are drawn as text while they still grow: reading all of it anew for each piece would hold up the page. */
const mostGrowing = 20_000

const useBlobUrl = (blob: Blob): string => {
  const url = useMemo(() => URL.createObjectURL(blob), [blob])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return url
}

const OfBytes = ({
  blob,
  isPicture,
  place
}: {
  readonly blob: Blob
  readonly isPicture: boolean
  readonly place: number
}) => {
  const url = useBlobUrl(blob)
  const name = isPicture ? words.picture(place) : words.sound(place)
  return (
    <figure class="medium">
      {isPicture ? (
        <img src={url} alt={name} />
      ) : (
        // What is spoken stands in the prompt.
        <audio controls src={url} aria-label={name} />
      )}
      <button type="button" class="button" onClick={() => download(name.toLowerCase().replaceAll(" ", "-"), blob)}>
        {words.download}
      </button>
    </figure>
  )
}

const Media = ({ isPicture, media }: { readonly media: ReadonlyArray<Medium>; readonly isPicture: boolean }) => {
  if (media.length === 0) return <p class="quiet">{words.nothingShown}</p>
  return (
    <>
      {media.map((medium, index) => {
        if ("blob" in medium) return <OfBytes key={index} blob={medium.blob} isPicture={isPicture} place={index + 1} />
        const link = linkOf(medium.place)
        return link === null ? (
          <p key={index}>{visible(medium.place)}</p>
        ) : (
          <p key={index}>
            <a href={link.url} target="_blank" rel="noopener noreferrer nofollow">
              {words.notLoaded(visible(link.host))}
            </a>
          </p>
        )
      })}
    </>
  )
}

const Rows = ({
  head,
  rows
}: {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}) => (
  <div class="scroller" tabIndex={0} role="region" aria-label={head.join(", ")}>
    <table class="plain-table">
      <thead>
        <tr>
          {head.map((title) => (
            <th key={title}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, index) => (
              <td key={index}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const Hits = ({ hits }: Extract<Outcome, { readonly _tag: "Hits" }>) => (
  <ol class="stack">
    {hits.map(({ host, text, title, url }, index) => (
      <li key={index}>
        {host === null ? (
          <p>
            {visible(title)} <span class="quiet">{visible(url)}</span>
          </p>
        ) : (
          <a href={url} target="_blank" rel="noopener noreferrer nofollow">
            {visible(title)} <span class="quiet">({visible(host)})</span>
          </a>
        )}
        <p>{visible(text.slice(0, 600))}</p>
      </li>
    ))}
  </ol>
)

const OutcomeView = ({ draft, outcome }: { readonly outcome: Outcome; readonly draft: Draft }) => {
  switch (outcome._tag) {
    case "Text":
      return <Markdown text={outcome.text} />
    case "Pictures":
      return <Media media={outcome.media} isPicture />
    case "Sounds":
      return <Media media={outcome.media} isPicture={false} />
    case "Vectors": {
      const texts = linesOf(draft.prompt)
      return (
        <Rows
          head={Object.values(words.vectors)}
          rows={outcome.vectors.map(({ first, likeness, size }, index) => [
            visible((texts[index] ?? "").slice(0, 60)),
            count(size),
            first.map((value) => value.toFixed(3)).join(" "),
            likeness.toFixed(3)
          ])}
        />
      )
    }
    case "Flags":
      return (
        <>
          <State kind={outcome.isFlagged ? "warning" : "good"}>
            {outcome.isFlagged ? words.flagged : words.notFlagged}
          </State>
          <Rows
            head={[words.category, words.score]}
            rows={outcome.scores.map(([name, score]) => [visible(name), percent(score)])}
          />
        </>
      )
    case "Ranking": {
      const documents = linesOf(draft.documents)
      return (
        <Rows
          head={[words.rank, words.document, words.score]}
          rows={outcome.rows.map(({ index, score }, rank) => [
            count(rank + 1),
            visible((documents[index] ?? String(index)).slice(0, 200)),
            score.toFixed(3)
          ])}
        />
      )
    }
    case "Hits":
      return <Hits {...outcome} />
    case "Json":
      return <LongText text={outcome.text} label={words.columns} isCode />
  }
}

export const Answer = ({ draft, run }: { readonly run: Run; readonly draft: Draft }) => {
  const isPlain = useSignal(false)
  const isGrowing = run.state === "running" && run.text.length > mostGrowing
  return (
    <div class="answer-body" aria-live={run.state === "ended" ? "polite" : "off"}>
      {run.thought !== "" && (
        <details>
          <summary>{words.thought}</summary>
          <LongText text={run.thought} label={words.thought} />
        </details>
      )}
      {run.text !== "" &&
        (isPlain.value || isGrowing ? (
          <LongText text={run.text} label={words.columns} />
        ) : (
          <Markdown text={run.text} />
        ))}
      {run.tools.map((tool, index) => (
        <div key={index} class="stack">
          <p>{words.tool(visible(tool.name))}</p>
          <LongText text={tool.input} label={tool.name} isCode />
        </div>
      ))}
      {run.outcome !== null && <OutcomeView outcome={run.outcome} draft={draft} />}
      {run.text !== "" && run.state !== "running" && (
        <button
          type="button"
          class="button plain"
          aria-pressed={isPlain.value}
          onClick={() => {
            isPlain.value = !isPlain.value
          }}
        >
          {words.plain}
        </button>
      )}
    </div>
  )
}
