"""The report: tables, figures and findings, from the file of results alone.

summary    runs of the same thing with several seeds, taken together
tables     what the paper prints beside what was measured
findings   what the results must show, and whether they do
figures    curves, as data; drawn by plotly and by matplotlib from the same
page       all of it as one HTML file; text: as Markdown and LaTeX; raw: the runs as Parquet and CSV
"""
