/**
 * The Zipf distribution over the indices below `count`: the k-th of them is in proportion to 1 / k^`exponent`.
 * Returns the index for a random number from 0 to 1.
 */
export function zipf(count: number, exponent: number): (random: number) => number {
  let sum = 0;
  const cumulative = Float64Array.from({ length: count }, (_, index) => (sum += 1 / (index + 1) ** exponent));
  return (random) => {
    const aim = random * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cumulative[middle]! < aim) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
