/** The last values as small columns: their course at a glance. */
interface Properties {
  readonly label: string
  readonly values: ReadonlyArray<number>
}

const width = 3
const gap = 1
const height = 20

export const Sparkline = ({ label, values }: Properties) => {
  const most = Math.max(1, ...values)
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      width={values.length * (width + gap)}
      height={height}
      viewBox={`0 0 ${values.length * (width + gap)} ${height}`}
    >
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(2, (value / most) * height)
        // The place is what a column is.
        return <rect key={index} x={index * (width + gap)} y={height - tall} width={width} height={tall} />
      })}
    </svg>
  )
}
