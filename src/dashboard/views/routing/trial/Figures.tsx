/** Figures of what is tried beside those of what it is compared with, and how they differ: by a sign and a word, not by colour alone. */
import { State, type Kind } from "../../../ui/State.tsx"
import { words } from "../../../words/routing.ts"

export interface Figure {
  readonly name: string
  /** Null: unknown. */
  readonly mine: number | null
  readonly other: number | null
  /** Difference as the API answers it. */
  readonly difference: number | null
  readonly format: (value: number) => string
  /** Direction that is welcome; null: neither. */
  readonly better: "more" | "less" | null
}

const shown = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value)

const kindOf = ({ better, difference }: Figure): Kind => {
  if (difference === null || difference === 0 || better === null) return "quiet"
  return difference > 0 === (better === "more") ? "good" : "bad"
}

/** The difference with its sign. */
export const signed = (value: number, format: (value: number) => string): string =>
  format(Math.abs(value)) === format(0) ? "±0" : `${value > 0 ? "+" : "−"}${format(Math.abs(value))}`

const Difference = ({ figure }: { readonly figure: Figure }) => {
  const { difference, format } = figure
  if (difference === null) return <>–</>
  const kind = kindOf(figure)
  return (
    <State kind={kind}>
      {signed(difference, format)}
      {kind !== "quiet" && (
        <span class="visually-hidden"> {kind === "good" ? words.trial.better : words.trial.worse}</span>
      )}
    </State>
  )
}

interface Properties {
  readonly figures: ReadonlyArray<Figure>
  readonly isCompared: boolean
}

export const Figures = ({ figures, isCompared }: Properties) => (
  <table class="plain-table figures">
    <thead>
      <tr>
        <th>{words.trial.figures.figure}</th>
        <th class="number">{words.trial.figures.mine}</th>
        {isCompared && (
          <>
            <th class="number">{words.trial.figures.other}</th>
            <th class="number">{words.trial.figures.difference}</th>
          </>
        )}
      </tr>
    </thead>
    <tbody>
      {figures.map((figure) => (
        <tr key={figure.name}>
          <th scope="row">{figure.name}</th>
          <td class="number">{shown(figure.mine, figure.format)}</td>
          {isCompared && (
            <>
              <td class="number">{shown(figure.other, figure.format)}</td>
              <td class="number">
                <Difference figure={figure} />
              </td>
            </>
          )}
        </tr>
      ))}
    </tbody>
  </table>
)
