// Counts what differs in two pictures, but for roundings at the edges of letters.
async pictures => {
    const [one, other] = await Promise.all(pictures.map(drawn));
    return one.data.filter((value, i) => Math.abs(value - other.data[i]) > 48).length;
}
