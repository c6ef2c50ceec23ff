"""What a page says of a plot of its next table, which make results draws (bench/pages/page_parts.py). Pure: standard library only."""
import json


def plot(picture, shows, columns, **said):
    """`shows` is for those who do not see the picture; `columns` are the series, `said` the other keys of bench/pages/plot_spec.py."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in said.items()]
    series = ", ".join(f"{{column = {json.dumps(column)}}}" for column in columns)
    return "\n".join(["<!-- plot", *lines, f"series = [{series}]", "-->", f"![{shows}]({picture})"])
