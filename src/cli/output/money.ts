/** Amounts of money and of other things in tables. */

/** USD with two decimals from a dollar on, and with six below, where requests cost fractions of a cent. */
export const usd = (value: number): string =>
  value === 0
    ? "0.00"
    : Math.abs(value) >= 1
      ? value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
      : value.toFixed(6)

/** A part of a whole in percent. */
export const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
