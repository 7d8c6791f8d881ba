/** An amount in USD for people: a plain decimal with at most ten places, also where JavaScript would write `1e-7`. */
export const usdText = (usd: number): string => {
  const text = usd.toFixed(10)
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text} USD`
}
