/** Answers what the compression saves, what it would make of a request, and how it is set. */
import type { AnswerOf } from "../../../api/client.ts"
import { compressionAnalytics, compressionSetSettings, compressionSettings } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { Answered } from "../../../ui/Answered.tsx"
import { count, percent, short, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/compression.ts"
import { Body } from "../parts/Body.tsx"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { Tiles } from "../parts/Tiles.tsx"
import { Preview } from "./Preview.tsx"

type Analytics = AnswerOf<typeof compressionAnalytics>

const days = 30

const Saved = ({ analytics: { byMode, totals } }: { readonly analytics: Analytics }) =>
  totals.changed === 0 ? (
    <Empty text={words.none} />
  ) : (
    <>
      <Tiles
        figures={[
          { name: words.savedTokens, value: short(totals.savedTokens), about: words.of(short(totals.tokensBefore)) },
          { name: words.savedPart, value: percent(totals.savedPercent / 100) },
          { name: words.changed, value: count(totals.changed), about: words.of(count(totals.requests)) }
        ]}
      />
      <Table label={words.byMode[0]} columns={words.byMode} numbers={[1, 2, 3, 4]}>
        {byMode.map(({ mode, requests, savedPercent, tokensAfter, tokensBefore }) => (
          <tr key={mode}>
            <td>{visible(mode)}</td>
            <td class="number">{count(requests)}</td>
            <td class="number">{short(tokensBefore)}</td>
            <td class="number">{short(tokensAfter)}</td>
            <td class="number">{percent(savedPercent / 100)}</td>
          </tr>
        ))}
      </Table>
    </>
  )

const Settings = () => {
  const settings = useAnswer({ key: ["compression"], ask: (signal) => compressionSettings({ signal }) })
  return (
    <section class="card stack" aria-label={words.settings}>
      <h3>{words.settings}</h3>
      <Answered of={settings} height={320}>
        {(values) => (
          <Body operation="compressionSetSettings">
            {(schema) => (
              <ValuesForm
                schema={schema}
                values={values}
                stored={{ call: compressionSettings, of: (answer) => answer as object }}
                save={async (body, ifMatch, over) => {
                  // What is left out would go back to its default.
                  await compressionSetSettings({ body: { ...over, ...body } as never, ifMatch })
                  await refresh("compression")
                }}
              />
            )}
          </Body>
        )}
      </Answered>
      <p class="strip">
        <span class="quiet">{words.engines}:</span>
        <a href={placeOf("system/compressionCombosSetCaveman")}>{words.caveman}</a>
        <a href={placeOf("system/rtkSetConfig")}>{words.rtk}</a>
        <a href={placeOf("system/compressionCombosCreate")}>{words.combos}</a>
      </p>
    </section>
  )
}

export const Compression = () => {
  const analytics = useAnswer({
    key: ["compression-analytics"],
    ask: (signal) => compressionAnalytics({ query: { days }, signal })
  })
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint} />
      <section class="stack" aria-label={words.saved}>
        <h3>{words.saved}</h3>
        <Answered of={analytics} height={120}>
          {(answer) => <Saved analytics={answer} />}
        </Answered>
      </section>
      <Body operation="compressionSetSettings">{(schema) => <Preview settings={schema} />}</Body>
      <Settings />
    </div>
  )
}
