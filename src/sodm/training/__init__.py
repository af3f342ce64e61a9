"""What all trainers take and give: a problem and a context in, a trained machine out, values all of them."""
