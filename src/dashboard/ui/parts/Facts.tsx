/** Names and values, one below the other. */
import { type ComponentChildren, Fragment } from "preact"

export const Facts = ({ rows }: { readonly rows: ReadonlyArray<readonly [string, ComponentChildren]> }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <Fragment key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </dl>
)
