/** Figures, each with what it is and what is said beside it. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly about?: string
}

export const Tiles = ({ figures }: { readonly figures: ReadonlyArray<Figure> }) => (
  <dl class="tiles">
    {figures.map(({ about, name, value }) => (
      <div key={name} class="card tile">
        <dt class="quiet">{name}</dt>
        <dd class="value">{value}</dd>
        {about !== undefined && <dd class="quiet">{about}</dd>}
      </div>
    ))}
  </dl>
)
